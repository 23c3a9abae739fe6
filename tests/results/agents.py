"""Agents of real packages, which leave traces: programs for environments of their own."""

COMMON = """
import json, sys
from pathlib import Path

folder, out = Path(sys.argv[1]), Path(sys.argv[2])
texts = {row["doc_id"]: row["content"] for row in json.loads((folder / "corpus.json").read_text())}
questions = json.loads((folder / "queries.json").read_text())[:5]

def ranked(query):
    return sorted(texts, key=lambda i: (-len(set(query) & set(texts[i])), i))[:3]
"""
SPANS = """
from google.protobuf.json_format import MessageToJson
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

exporter = InMemorySpanExporter()
provider = TracerProvider()
provider.add_span_processor(SimpleSpanProcessor(exporter))
"""
WRITE = """
message = encode_spans(exporter.get_finished_spans())
(out / "traces.pb").write_bytes(message.SerializeToString())
(out / "traces.json").write_text(MessageToJson(message))
"""
LANGCHAIN = f"""{COMMON}{SPANS}
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.messages import AIMessage
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableLambda
from openinference.instrumentation.langchain import LangChainInstrumentor

LangChainInstrumentor().instrument(tracer_provider=provider)

class Words(BaseRetriever):
    def _get_relevant_documents(self, query, *, run_manager=None):
        return [Document(page_content=texts[i], metadata={{"source": i}}) for i in ranked(query)]

usage = {{"input_tokens": 12, "output_tokens": 3, "total_tokens": 15}}

def answer(inputs):
    found = Words().invoke(inputs["question"])
    Words().invoke(found[0].page_content[:40])
    model = GenericFakeChatModel(messages=iter([AIMessage("Sofia", usage_metadata=usage)]))
    return {{"answer": model.invoke("Answer.").content}}

for question in questions:
    RunnableLambda(answer).invoke({{"question": question["question"]}})
{WRITE}"""
LLAMA_INDEX = f"""{COMMON}{SPANS}
from llama_index.core import get_response_synthesizer
from llama_index.core.llms.mock import MockLLM
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, TextNode
from openinference.instrumentation.llama_index import LlamaIndexInstrumentor

LlamaIndexInstrumentor().instrument(tracer_provider=provider)

class Words(BaseRetriever):
    def _retrieve(self, bundle):
        nodes = [
            TextNode(id_=f"node {{i}}", text=texts[i][:200], metadata={{"file_name": i}})
            for i in ranked(bundle.query_str)
        ]
        return [NodeWithScore(node=node, score=1 / (n + 1)) for n, node in enumerate(nodes)]

writer = get_response_synthesizer(llm=MockLLM(max_tokens=8))
engine = RetrieverQueryEngine(retriever=Words(), response_synthesizer=writer)
for question in questions:
    engine.query(question["question"])
{WRITE}"""
INSPECT = f"""{COMMON}
from inspect_ai import Task, eval
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import tool

@tool
def search():
    async def execute(query: str) -> str:
        \"\"\"Search.

        Args:
            query: what to search.
        \"\"\"
        return json.dumps([{{"id": i, "text": texts[i]}} for i in ranked(query)])

    return execute

outputs = []
for question in questions:
    query = {{"query": question["question"]}}
    outputs.append(ModelOutput.for_tool_call("mockllm/model", "search", query))
    outputs.append(ModelOutput.from_content("mockllm/model", "Sofia"))
for output in outputs:
    # Without one, it asks the network how many tokens a text has.
    output.usage = ModelUsage(input_tokens=12, output_tokens=3, total_tokens=15)
dataset = [Sample(input=q["question"], id=q["question_id"]) for q in questions]
task = Task(dataset=dataset, solver=[use_tools(search()), generate()])
model = get_model("mockllm/model", custom_outputs=outputs)
(log,) = eval(task, model=model, log_dir=str(out), display="none", max_samples=1)
assert log.status == "success", log.error
"""
