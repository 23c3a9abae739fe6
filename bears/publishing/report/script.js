"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { words, looks, systems, measures, documents, questions } = data;
  const [judge, waiting] = data.judge;
  const root = document.documentElement;
  const STEP = 50;
  const byId = new Map(documents.map((row) => [row.id, row]));
  const CALL = ["input_tokens", "output_tokens", "seconds", "usd"];
  const FILTERS = ["text", "type", "source", "cause", "better", "than", "by"];
  let state = {};
  let visible = STEP;

  const index = () => (root.lang === "en" ? 0 : 1);
  const word = (key, values = {}) =>
    words[key][index()].replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
  const named = (kind, value) => words[`${kind}_${value}`]?.[index()] ?? value;
  // Texts only ever become text nodes: nothing here parses HTML.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
  };
  const number = (value) => (value === null ? "–" : value.toFixed(2));
  const glyph = (system) =>
    make("span", { class: looks[system].mark, "aria-hidden": "true" }, looks[system].glyph);

  // ------------------------------------------------------------------ state in the address
  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    state = Object.fromEntries(["q", ...FILTERS].map((name) => [name, given.get(name) ?? ""]));
  };
  const address = (wanted) => {
    const given = new URLSearchParams(Object.entries(wanted).filter(([, value]) => value));
    return `#${given}`;
  };
  const remember = () => history.replaceState(null, "", address(state));
  const concerns = () => /^#(q|text|type|source|cause|better|than|by)=/.test(location.hash);

  // ------------------------------------------------------------------ which questions
  const texts = questions.map((question) =>
    [question.id, question.question, question.answer, question.original, question.original_answer,
      ...(question.aliases ?? []), ...(question.given ?? []).map((given) => given.answer)]
      .filter(Boolean).join("\n").toLowerCase());
  const causes = (question) => (question.given ?? []).map((given) => given.cause).filter(Boolean);
  const value = (question, system, measure) => question.values[systems.indexOf(system)]?.[measure] ?? null;
  const measure = () => Math.max(0, measures.indexOf(state.by));
  const better = (question) => {
    if (!state.better || !state.than) return true;
    const [a, b] = [state.better, state.than].map((system) => value(question, system, measure()));
    return a !== null && b !== null && a > b;
  };
  const fits = (question, position) =>
    (!state.text || state.text.toLowerCase().split(/\s+/).every((part) => texts[position].includes(part))) &&
    (!state.type || question.type === state.type) &&
    (!state.source || question.source === state.source) &&
    (!state.cause || causes(question).includes(state.cause)) &&
    better(question);

  // ------------------------------------------------------------------ one question
  const marked = (text, forms) => {
    const wanted = forms.filter((form) => form && form.trim().length > (/^[ -~]*$/.test(form) ? 1 : 0))
      .sort((a, b) => b.length - a.length)
      .map((form) => form.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    if (!wanted.length) return [text];
    return text.split(new RegExp(`(${wanted.join("|")})`, "gi"))
      .map((part, at) => (at % 2 ? make("mark", {}, part) : part));
  };
  const passage = (kind, text, lang, forms, plain) =>
    make("div", { class: plain ? "text plain" : "text", lang, dir: "auto" },
      make("span", { class: "kind", lang: root.lang }, kind), marked(text, forms));
  const goldDocument = (question, key, forms) => {
    const row = documents[key];
    const kind = row.name ?? word("translated");
    const own = passage(kind, row.text, data.language, forms, false);
    const before = row.original &&
      passage(word("original"), row.original, data.languages[row.source] ?? "",
        [question.original_answer || question.answer], true);
    return make("div", { class: "pair" }, own, before || null);
  };
  const origin = (row) => row.name ? `${row.source} · ${row.name}` : row.source;
  const foundDocument = (question, forms) => ([row, score, right]) => {
    const start = row.text.length > 46 ? `${row.text.slice(0, 46)}…` : row.text || row.id;
    const line = [
      right ? make("span", { class: "badge" }, `✓ ${word("right")}`) : null, right ? " " : null,
      make("span", { lang: data.language, dir: "auto" }, start), " ",
      score === null ? null : make("span", { class: "score" }, word("score", { score }))];
    // Only the documents that a system ranks first have their texts here.
    return make("li", {}, row.text
      ? make("details", {}, make("summary", {}, line), passage(origin(row), row.text, data.language, forms, !right))
      : line);
  };
  const amount = (name, n) => (n === null ? null : word(`step_${name}`, { n }));
  const timeline = (question, forms, { searches, calls }) =>
    make("div", { class: "steps" },
      searches.map(([query, seconds, found], at) => make("div", {},
        make("span", { class: "kind" }, [word("step", { n: at + 1 }), amount("seconds", seconds)].filter(Boolean).join(" · ")),
        make("span", { dir: "auto" }, query || "–"),
        found.length ? make("ol", {}, found.map(([id, right]) => [byId.get(id) ?? { id, text: "" }, null, right]).map(foundDocument(question, forms))) : make("p", { class: "kind" }, word("nothing_found")))),
      calls.map((call) => make("div", {},
        make("span", { class: "kind" }, [word("step_call"), ...CALL.map((name) => amount(name, call[name]))].filter(Boolean).join(" · ")),
        make("span", { dir: "auto" }, call.model || "–"))));
  const GRADES = {
    support: "✓", full_support: "✓", partial_support: "◐", not_support: "✗", no_support: "✗",
    uncited: "–", unscored: "?",
  };
  const answerGiven = (given) =>
    make("div", { class: "given" },
      make("p", {}, make("span", { class: "kind" },
        [word("given"), given.verdict && word("judged", { verdict: given.verdict }), given.cause && named("cause", given.cause)].filter(Boolean).join(" · ")),
      make("span", { lang: data.language, dir: "auto" }, given.answer ?? "–")),
      given.reason ? make("p", { class: "kind" }, given.reason) : null,
      given.items ? make("ul", { class: "items" }, given.items.map(([text, verdict, note]) =>
        make("li", { class: verdict },
          make("span", { title: verdict }, GRADES[verdict] ?? verdict), " ",
          make("span", { lang: data.language, dir: "auto" }, text),
          note && note !== verdict ? make("span", { class: "score" }, ` ${note}`) : null))) : null);
  const column = (question, forms) => (system, at) => {
    const places = question.places[at].map((place) => place ?? word("place_none")).join(", ");
    return make("div", {},
      make("h4", {}, glyph(system), " ", make("bdi", {}, system)),
      places ? make("p", { class: "kind" }, word("place", { places })) : null,
      question.steps?.[at] ? timeline(question, forms, question.steps[at]) : question.top[at].length
        ? make("ol", {}, question.top[at].map(([key, ...rest]) => [documents[key], ...rest]).map(foundDocument(question, forms)))
        : make("p", { class: "kind" }, word("nothing_found")),
      (question.given ?? []).filter((given) => given.system === at).map(answerGiven));
  };
  const opened = (question) => {
    const forms = [question.answer, ...(question.aliases ?? []), ...(question.answers ?? [])];
    const also = [...(question.aliases ?? []), ...(question.answers ?? [])].filter((form) => form !== question.answer);
    return make("div", { class: "open" },
      (question.turns ?? []).length ? make("h4", {}, word("conversation")) : null,
      (question.turns ?? []).map(([role, content]) =>
        make("p", {}, make("span", { class: "kind" }, words[`role_${role}`] ? word(`role_${role}`) : role),
          make("span", { lang: data.language, dir: "auto" }, content))),
      question.original
        ? make("p", {}, make("span", { class: "kind" }, word("original")),
            make("span", { lang: data.languages[question.source] ?? "", dir: "auto" }, question.original))
        : null,
      make("p", {}, make("span", { class: "kind" }, word("expected")),
        make("strong", { lang: data.language, dir: "auto" }, question.answer || "–"),
        question.original_answer ? make("span", { class: "score" }, ` (${question.original_answer})`) : null,
        also.length ? make("span", { class: "kind" }, `${word("also")}: ${also.join(" · ")}`) : null),
      (question.findings ?? []).length ? make("h4", {}, word("verification_found")) : null,
      (question.findings ?? []).map((finding) => make("p", { class: "kind" }, finding.join(" · "))),
      make("h4", {}, word("gold_documents")),
      question.gold.length ? question.gold.map((key) => goldDocument(question, key, forms)) : make("p", {}, word(question.unjudged ? "unjudged" : "no_gold")),
      (question.judged ?? []).length ? make("h4", {}, word("judged_here")) : null,
      (question.judged ?? []).map(([name, decision, ...rest]) =>
        make("p", { class: "kind" }, make("bdi", {}, name), ` · ${[named("decision", decision), ...rest].filter(Boolean).join(" · ")}`)),
      waiting[question.id]
        ? make("p", {}, make("a", { href: `${judge}#${new URLSearchParams({ question: question.id })}` }, word("judge_these", { n: waiting[question.id] })))
        : null,
      make("h4", {}, word("found_by")),
      make("div", { class: "columns" }, systems.map(column(question, forms))),
      make("p", {}, make("a", { href: address({ q: question.id }) }, word("link")), " ",
        make("code", { class: "score" }, question.id)));
  };
  const figures = (question) =>
    systems.map((system, at) => {
      const here = question.values[at][measure()];
      return make("span", { class: here === 0 ? "zero" : "" }, glyph(system), " ",
        make("span", { class: "hidden" }, `${system}: `), number(here));
    });
  const row = (question) => {
    const open = question.id === state.q;
    const toggle = () => {
      state.q = open ? "" : question.id;
      remember();
      list();
      document.getElementById(`head-${questions.indexOf(question)}`).focus({ preventScroll: true });
    };
    const at = questions.indexOf(question);
    return make("li", { id: `row-${at}` },
      make("button", { type: "button", class: "head", id: `head-${at}`, "aria-expanded": String(open), onclick: toggle },
        make("span", { lang: data.language, dir: "auto" }, question.question),
        make("span", { class: "values" }, figures(question)),
        make("span", { class: "about" }, [named("type", question.type), question.source, ...new Set(causes(question).map((cause) => named("cause", cause)))].join(" · "))),
      open ? opened(question) : null);
  };

  // ------------------------------------------------------------------ the list and its filters
  const browser = document.getElementById("browser");
  const status = make("p", { class: "status", role: "status" });
  const box = make("div", {});
  const list = () => {
    const found = questions.filter(fits);
    const open = found.findIndex((question) => question.id === state.q);
    visible = Math.max(visible, open + 1);
    status.textContent = found.length ? word("count", { shown: found.length, all: questions.length }) : word("none_found");
    const rest = found.length - visible;
    const more = () => {
      visible += STEP;
      list();
    };
    box.replaceChildren(
      make("ol", { class: "list" }, found.slice(0, visible).map(row)),
      rest > 0 ? make("button", { type: "button", class: "more", onclick: more }, word("more", { n: Math.min(STEP, rest) })) : "");
  };
  const change = (name) => (event) => {
    state[name] = event.target.value;
    state.q = "";
    visible = STEP;
    remember();
    list();
  };
  const select = (name, label, options, any = true) => {
    const wanted = [...new Set(options)].map((option) =>
      make("option", { value: option, selected: option === state[name] }, named(name, option)));
    return make("label", {}, word(label),
      make("select", { name, onchange: change(name) }, any ? make("option", { value: "" }, word("any")) : null, wanted));
  };
  const filters = () => {
    const causesHere = questions.flatMap(causes).sort();
    const clear = () => {
      state = Object.fromEntries(["q", ...FILTERS].map((name) => [name, ""]));
      remember();
      draw();
    };
    return make("form", { class: "filters", role: "search", "aria-label": word("filter"), onsubmit: (event) => event.preventDefault() },
      make("label", { class: "long" }, word("search"),
        make("input", { type: "search", name: "text", value: state.text, oninput: change("text") })),
      select("type", "type", questions.map((question) => question.type).sort()),
      select("source", "source", questions.map((question) => question.source).sort()),
      causesHere.length ? select("cause", "cause", causesHere) : null,
      systems.length > 1 ? [select("better", "better", systems), select("than", "than", systems)] : null,
      select("by", "by_measure", measures, false),
      make("button", { type: "button", onclick: clear }, word("reset")));
  };
  const legend = () =>
    make("ul", { class: "legend" }, systems.map((system) => make("li", {}, glyph(system), " ", make("bdi", {}, system))));
  const draw = () => {
    browser.replaceChildren(filters(), status, legend(), box);
    list();
  };
  const follow = () => {
    if (!concerns()) return;
    read();
    draw();
    const at = questions.findIndex((question) => question.id === state.q);
    (document.getElementById(`row-${at}`) ?? document.getElementById("questions")).scrollIntoView();
  };

  // ------------------------------------------------------------------ language
  const button = document.getElementById("language");
  const speak = (lang) => {
    root.lang = lang;
    draw();
  };
  button.hidden = false;
  button.addEventListener("click", () => speak(root.lang === "en" ? "zh-Hant" : "en"));
  read();
  speak(/^zh\b/i.test(navigator.language) ? "zh-Hant" : "en");
  follow();
  addEventListener("hashchange", follow);
})();
