"""Find answers that speak to the judge instead of answering, by their words."""

import re
import unicodedata

_PATTERNS = (
    # Forget the instructions.
    r"\b(ignore|disregard|forget|override|skip)\b.{0,40}\b(above|previous|prior|earlier|preceding"
    r"|instructions?|rules?|prompt|criteria|rubric|gold|reference)\b",
    r"(忽略|無視|无视|不要理會|不要理会|別管|别管|忘記|忘记|忘掉).{0,20}(以上|上述|上面|之前|先前|前面|指示|指令|規則|规则|標準|标准|提示)",
    r"(以上|上述|上面|之前|先前|前面).{0,12}(指示|指令|規則|规则|內容|内容).{0,8}(忽略|無視|无视|作廢|作废|無效|无效)",
    r"(위|이전|앞|지금까지).{0,20}(무시|잊)|(지시|지침|규칙|명령).{0,12}(무시|잊)",
    r"(上記|以上|以前|これまで|前).{0,16}(無視|忘れ)|(指示|命令|ルール).{0,8}(無視|忘れ)",
    r"\b(ignorier\w*|vergiss|vergessen|missachte\w*)\b.{0,40}\b(anweisung\w*|vorherig\w*|obig\w*"
    r"|oben|regeln?)\b",
    r"\b(prezri\w*|ignorir\w*|pozabi\w*)\b.{0,40}\b(navodil\w*|zgornj\w*|prejšnj\w*|pravil\w*)\b",
    # Claim to be right.
    r"\b(reply|respond|answer|output|return|say|print|write|mark|grade|rate|judge|score|give|set"
    r"|verdict|evaluate)\b.{0,40}[\"'“‘`]?\b(pass|passed|correct|full marks|verdict)\b",
    r"\"?verdict\"?\s*[:=]\s*\"?(pass|fail|correct)|\{\s*\"verdict\"",
    r"(回覆|回复|回答|輸出|输出|判定|判為|判为|評為|评为|請給|请给|標記|标记|打分).{0,16}(pass|通過|通过|正確|正确|及格|滿分|满分)",
    r"(pass|통과|정답|합격|만점).{0,16}(답하|출력|판정|평가|처리|대답|표시|주세요|주십시오)",
    r"(pass|合格|正解|満点).{0,16}(出力|答え|回答|判定|評価|返し)",
    r"\b(antworte|bewerte|gib|markiere|urteile)\b.{0,40}\b(pass|bestanden|richtig|korrekt)\b",
    r"\b(odgovori|oceni|označi|vrni)\b.{0,40}\b(pass|pravilno|pravilen|opravljeno)\b",
    # Pretend to be someone else.
    r"<\|?\s*/?\s*(im_start|im_end|system|assistant|user|endoftext)|\[/?(inst|system)\]"
    r"|<</?sys>>|^\s*#*\s*(system|assistant|judge|grader|developer)\s*(note|message|prompt)?\s*[:：]",
    r"\b(dear|attention|note to|message to|instructions? (to|for)|you are)\b.{0,20}"
    r"\b(judge|grader|evaluator|examiner|assistant|ai)\b",
    r"(評審|评审|評分者|评分者|裁判|評分員|评分员|閱卷|阅卷).{0,12}(請|请|注意|必須|必须|您好|你好)",
    r"(심사|채점|평가)(자|위원|관).{0,16}(에게|님|주의|보시)",
    r"\bas an? (ai|language model|judge|grader)\b",
)
_ANY = re.compile("|".join(f"(?:{each})" for each in _PATTERNS), re.IGNORECASE | re.MULTILINE)


def speaks_to_judge(answer: str) -> bool:
    """Return whether an answer has words that would influence a judge.

    It knows English, Chinese, Korean, Japanese, German and Slovenian. It only flags: a right answer
    may have such words ("ignore the above" in a text about prompts), and a wrong one may not.
    """
    folded = unicodedata.normalize("NFKC", answer)
    plain = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return bool(_ANY.search(plain))
