"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const { words, columns, texts, blanks, decisive, choices, rubric, needs } = data;
  const root = document.documentElement;
  const LONG = 600; // Characters from which on a text scrolls by itself.
  const MARKS = 1500; // More of them make a page slow, and nobody reads them.
  const IDLE = 120; // Seconds after which somebody was elsewhere.
  const NAMES = ["back", "skip", "undo", "note", "save", "open", "help"];
  const KEYS = { back: "b", skip: "k", undo: "u", note: "m", save: "d", open: "o", help: "h" };
  const ALSO = { ArrowLeft: "back", ArrowRight: "skip", "?": "help" };

  // ------------------------------------------------------------------ what is asked
  const items = data.items.map(([shown, cells, within]) => {
    const item = { shown, cells: Object.fromEntries(columns.map((name, at) => [name, data.kept[cells[at]]])) };
    if (within.length) {
      const [whole, start, length, cut] = within;
      item.whole = data.kept[whole];
      item.passage = item.cells.end ? [start, start + length] : null;
      item.cells[data.document] = item.whole.slice(start, start + length) + (cut ? "…" : "");
    }
    return item;
  });
  const byShown = new Map(items.map((item) => [item.shown, item]));
  const written = blanks.filter((name) => !decisive.includes(name) && name !== "author");
  const note = written.includes("reason") ? "reason" : null;
  // A key for each choice: its digit, and the letter with which it begins if no other has it.
  const letters = choices.map((choice) => choice[0]);
  const keys = new Map();
  choices.forEach((choice, at) => {
    keys.set(/^\d$/.test(choice) ? choice : String(at + 1), choice);
    if (letters.filter((letter) => letter === choice[0]).length === 1) keys.set(choice[0], choice);
  });
  const keyOf = (choice) => [...keys].filter(([, of]) => of === choice).map(([key]) => key.toUpperCase());

  let at = 0;
  let active = 0;
  let since = performance.now();
  let unsaved = false;
  let storing = true;
  let place = 0;
  let typed = {}; // What was there before somebody began to type.
  const pace = [];
  const history = [];

  // ------------------------------------------------------------------ words
  const index = () => (root.lang === "en" ? 0 : 1);
  const word = (key, values = {}) =>
    (words[key]?.[index()] ?? key).replace(/\{(\w+)\}/g, (whole, name) => String(values[name] ?? whole));
  const named = (kind, value) => words[`${kind}_${value}`]?.[index()] ?? value.replaceAll("_", " ");
  // Texts only ever become text nodes: nothing here parses HTML.
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
      else if (value !== false && value !== null) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined));
    return element;
  };
  const byId = (id) => document.getElementById(id);
  const say = (key, values) => { byId("said").textContent = word(key, values); };
  const warn = (key) => {
    byId("warning").textContent = word(key);
    byId("warning").hidden = false;
  };

  // ------------------------------------------------------------------ what is kept
  const place_of = (item) => `bears:${item.shown}`;
  const blank = (item) => Object.fromEntries(blanks.map((name) => [name, item.cells[name]]));
  const complete = (item) => decisive.every((name) => item.values[name]);
  // The blank, and the column to copy from, that a choice needs and that is empty.
  const lacking = (item) =>
    decisive.map((name) => needs[item.values[name]]).find((need) => need && !item.values[need[0]].trim());
  const isDecided = (item) => complete(item) && !lacking(item);
  const decided = () => items.filter(isDecided).length;
  const read = (item) => {
    item.values = blank(item);
    try {
      const text = localStorage.getItem(place_of(item));
      const given = text ? JSON.parse(text) : {};
      for (const name of blanks) if (typeof given[name] === "string") item.values[name] = given[name];
    } catch {
      storing = false;
    }
  };
  const store = (item) => {
    unsaved = true;
    try {
      const changed = blanks.filter((name) => item.values[name] !== item.cells[name]);
      if (!changed.length) localStorage.removeItem(place_of(item));
      else localStorage.setItem(place_of(item), JSON.stringify(Object.fromEntries(changed.map((name) => [name, item.values[name]]))));
    } catch {
      storing = false;
      warn("not_kept");
    }
  };
  const write = (item, name, value) => {
    if (item.values[name] === value) return;
    history.push([item, { ...item.values }]);
    item.values[name] = value;
    store(item);
  };
  const save = () => {
    const rows = items.filter(isDecided).map((item) => ({ ...item.cells, ...item.values, shown: item.shown }));
    if (!rows.length) return say("nothing_to_save");
    const file = `${data.name}.json`;
    const blob = new Blob([JSON.stringify({ sheet: "bears", rows })], { type: "application/json" });
    const link = make("a", { href: URL.createObjectURL(blob), download: file });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    unsaved = false;
    say("saved", { n: rows.length, file });
  };
  const open = async (file) => {
    let rows;
    try {
      const saved = JSON.parse(await file.text());
      if (saved.sheet !== "bears" || !Array.isArray(saved.rows)) throw new TypeError(file.name);
      rows = saved.rows;
      if (!rows.every((row) => blanks.every((name) => typeof row[name] === "string"))) throw new TypeError(file.name);
    } catch {
      return say("not_opened", { file: file.name });
    }
    let [n, differ, other] = [0, 0, 0];
    for (const row of rows) {
      const item = byShown.get(row.shown);
      if (!item) other += 1;
      else if (!isDecided(item)) {
        history.push([item, { ...item.values }]);
        for (const name of blanks) item.values[name] = row[name];
        store(item);
        n += 1;
      } else if (decisive.some((name) => item.values[name] !== row[name])) differ += 1;
    }
    go(after(-1));
    say("opened", { n, differ, other, file: file.name });
  };

  // ------------------------------------------------------------------ one item
  const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const segments = (text) => {
    if (!("Segmenter" in Intl)) return text.match(/[\p{L}\p{N}]+/gu) ?? [];
    return [...new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)]
      .filter((part) => part.isWordLike).map((part) => part.segment);
  };
  const telling = (part) => (/^[\p{Script=Latin}\p{M}]+$/u.test(part) ? part.length > 3 : part.length > 1);
  // A short text may be quoted whole; of a longer one the words are marked.
  const forms = (item) => {
    const others = data.texts.filter((name) => name !== data.document && name !== "file" && item.cells[name]);
    const whole = others.map((name) => item.cells[name].trim()).filter((text) => text.length > 1 && text.length < 120);
    const parts = others.flatMap((name) => segments(item.cells[name].slice(0, 2000))).filter(telling);
    return [whole, [...new Set(parts)].slice(0, 200)];
  };
  const marked = (text, [whole, parts], room) => {
    const wanted = [...whole, ...parts].sort((a, b) => b.length - a.length).map(quoted);
    if (!wanted.length) return [text];
    const found = new RegExp(wanted.join("|"), "giu");
    const quotations = new Set(whole.map((each) => each.toLowerCase()));
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(found)) {
      if (room.left-- <= 0) break;
      nodes.push(text.slice(end, match.index),
        make("mark", quotations.has(match[0].toLowerCase()) ? { class: "quotation" } : {}, match[0]));
      end = match.index + match[0].length;
    }
    return [...nodes, text.slice(end)];
  };
  const documentOf = (item) => {
    const text = item.whole ?? item.cells[data.document];
    const [room, wanted] = [{ left: MARKS }, forms(item)];
    if (!item.passage || item.passage[1] - item.passage[0] >= text.length) return marked(text, wanted, room);
    const [start, end] = item.passage;
    return [
      ...marked(text.slice(0, start), wanted, room),
      make("span", { class: "passage" }, marked(text.slice(start, end), wanted, room)),
      ...marked(text.slice(end), wanted, room)];
  };
  const textOf = (item) => (name) => {
    const isDocument = name === data.document;
    const text = item.cells[name];
    if (!text && !isDocument) return null;
    const long = isDocument || text.length > LONG;
    const label = isDocument && item.cells.file ? item.cells.file : named("column", name);
    return [
      make("span", { class: "kind" }, make("bdi", {}, label)),
      make("div", { class: `text ${isDocument ? "read" : "plain"}${long ? " long" : ""}`, id: `text-${name}`, dir: "auto", lang: "",
        role: "group", "aria-label": named("column", name), tabindex: long ? "0" : null },
      isDocument ? documentOf(item) : text)];
  };
  const choiceButton = (item, name) => (choice) =>
    make("button", { type: "button", class: "choice", "aria-pressed": String(item.values[name] === choice),
      "data-blank": name, "data-choice": choice, onclick: () => choose(name, choice) },
    make("kbd", { "aria-hidden": "true" }, keyOf(choice).join(" ")),
    make("span", {}, named("choice", choice)),
    rubric[choice] ? make("small", {}, rubric[choice][index()] ?? rubric[choice][0]) : null);
  const field = (item) => (name) =>
    make("label", { class: "field" }, named("column", name),
      make("textarea", { id: `field-${name}`, dir: "auto", rows: name === "text" ? "4" : "1",
        onfocus: () => { typed = { ...item.values }; },
        oninput: (event) => {
          item.values[name] = event.target.value;
          store(item);
        },
        onchange: () => history.push([item, typed]),
        onkeydown: (event) => inField(event, item, name) }, item.values[name]));
  const command = (name) =>
    make("button", { type: "button", "data-command": name, "aria-keyshortcuts": KEYS[name], onclick: COMMANDS[name] },
      named("key", name), " ", make("kbd", { "aria-hidden": "true" }, KEYS[name].toUpperCase()));
  const shownCommands = () => NAMES.filter((name) => name !== "note" || note);
  const meanings = () =>
    make("details", { class: "meanings" }, make("summary", {}, word("meanings")),
      make("dl", {}, choices.filter((choice) => rubric[choice]).map((choice) =>
        [make("dt", {}, named("choice", choice)), make("dd", {}, rubric[choice][index()] ?? rubric[choice][0])])));
  const progress = () => {
    const values = { done: decided(), all: items.length };
    const recent = pace.slice(-20);
    const seconds = recent.reduce((sum, each) => sum + each, 0) / recent.length;
    const left = Math.ceil(((items.length - values.done) * seconds) / 60);
    const more = recent.length > 2 ? word("pace", { seconds: Math.round(seconds), minutes: left }) : "";
    byId("progress").textContent = [word("decided", values), more].filter(Boolean).join(", ");
  };
  const finished = () =>
    make("div", { class: "done" },
      make("h2", {}, word("all_done", { all: items.length })),
      make("p", {}, word("then")),
      make("pre", {}, make("code", {}, data.command)),
      make("div", { class: "commands" }, ["save", "back", "undo", "open"].map(command)));
  const draw = () => {
    const item = items[at];
    place = 0;
    progress();
    byId("language").textContent = word("language");
    byId("language").setAttribute("aria-label", word("language_label"));
    if (!item) return byId("desk").replaceChildren(finished());
    const shown = item.cells.file && !data.document ? texts : texts.filter((name) => name !== "file");
    const ordered = shown.filter((name) => name !== data.document);
    byId("desk").replaceChildren(
      make("article", { "aria-label": word("progress", { done: at + 1, all: items.length }) },
        [...ordered, ...(data.document ? [data.document] : [])].map(textOf(item))),
      make("section", { id: "panel", "aria-label": word("choices") },
        Object.keys(rubric).length ? meanings() : null,
        decisive.map((name, number) =>
          make("fieldset", { class: number === active ? "active" : "" },
            make("legend", {}, named("column", name)),
            make("div", { class: "choices" }, choices.map(choiceButton(item, name))))),
        written.map(field(item)),
        make("div", { class: "commands" }, shownCommands().map(command))));
    const passage = document.querySelector(".passage");
    if (passage) passage.scrollIntoView({ block: "center" });
    scrollTo(0, 0);
  };
  const go = (wanted) => {
    at = wanted;
    active = items[at] ? Math.max(0, decisive.findIndex((name) => !items[at].values[name])) : 0;
    since = performance.now();
    draw();
    byId("progress").focus({ preventScroll: true });
  };
  // The next item without a decision, round the end; beyond the last if there is none.
  const after = (start) => {
    const order = items.map((_, n) => (start + 1 + n + items.length) % items.length);
    return order.find((n) => n !== start && !isDecided(items[n])) ?? (items[start] && !isDecided(items[start]) ? start : items.length);
  };
  const forward = (item) => {
    const need = lacking(item);
    if (need) {
      draw();
      const [name, from] = need;
      const area = byId(`field-${name}`);
      area.value = item.cells[from] ?? "";
      area.focus();
      return say("needed", { choice: named("choice", item.values[decisive[0]]) });
    }
    pace.push(Math.min((performance.now() - since) / 1000, IDLE));
    const chosen = decisive.map((name) => named("choice", item.values[name])).join(", ");
    go(after(at));
    say("chosen", { choice: chosen, done: decided(), all: items.length });
  };
  const choose = (name, choice) => {
    const item = items[at];
    write(item, name, choice);
    const next = decisive.indexOf(name) + 1;
    if (next < decisive.length) {
      active = next;
      draw();
    } else if (complete(item)) forward(item);
    else draw();
  };
  const inField = (event, item, name) => {
    if (event.ctrlKey || event.metaKey) return;
    event.stopPropagation();
    if (event.isComposing || (event.key !== "Escape" && !(event.key === "Enter" && !event.shiftKey))) return;
    event.preventDefault();
    write(item, name, event.target.value);
    event.target.blur();
    if (event.key === "Enter" && isDecided(item)) forward(item);
  };

  // ------------------------------------------------------------------ commands
  const undo = () => {
    const last = history.pop();
    if (!last) return say("nothing_to_undo");
    const [item, values] = last;
    item.values = values;
    store(item);
    go(items.indexOf(item));
    say("undone");
  };
  const help = () => {
    const box = byId("help");
    if (box.open) return box.close();
    box.replaceChildren(
      make("h2", { id: "help-title" }, word("keys")),
      make("dl", {},
        choices.map((choice) => [make("dt", {}, keyOf(choice).map((key) => [make("kbd", {}, key), " "])), make("dd", {}, named("choice", choice))]),
        shownCommands().map((name) => [make("dt", {}, make("kbd", {}, KEYS[name].toUpperCase())), make("dd", {}, named("key", name))]),
        make("dt", {}, make("kbd", {}, "↑ ↓")), make("dd", {}, word("keys_scroll"))),
      make("p", {}, word("leave_field")),
      make("p", {}, word("kept_here")),
      make("pre", {}, make("code", {}, data.command)),
      make("button", { type: "button", onclick: () => box.close() }, word("close")));
    return box.showModal();
  };
  const COMMANDS = {
    back: () => go(Math.max(0, at - 1)),
    skip: () => go(after(at)),
    note: () => note && byId(`field-${note}`)?.focus(),
    // Chromium lets the first key that somebody presses open files only after its event.
    open: () => setTimeout(() => byId("file").click()),
    undo, save, help,
  };
  const scrolled = (amount) => {
    const box = document.querySelector(".text.long");
    if (box && box.scrollHeight > box.clientHeight) box.scrollBy(0, amount);
    else scrollBy(0, amount);
  };
  const jump = () => {
    const marks = document.querySelectorAll("mark");
    if (marks.length) marks[place++ % marks.length].scrollIntoView({ block: "center" });
  };
  const SCROLLED = { ArrowDown: 80, ArrowUp: -80, PageDown: 400, PageUp: -400, " ": 400 };
  addEventListener("keydown", (event) => {
    if (event.isComposing || event.altKey) return;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey) {
      if (key !== "s") return;
      event.preventDefault();
      save();
      return;
    }
    if (byId("help").open) {
      if (key === "h" || key === "?") byId("help").close();
      return;
    }
    const name = ALSO[key] ?? NAMES.find((each) => KEYS[each] === key);
    if (items[at] && keys.has(key)) choose(decisive[active], keys.get(key));
    else if (name && shownCommands().includes(name)) COMMANDS[name]();
    else if (key === "j") jump();
    else if (SCROLLED[key] && !(key === " " && event.target.tagName === "BUTTON")) scrolled(SCROLLED[key]);
    else return;
    event.preventDefault();
  });
  byId("file").addEventListener("change", (event) => {
    const [file] = event.target.files;
    event.target.value = "";
    if (file) open(file);
  });
  byId("language").addEventListener("click", () => {
    root.lang = root.lang === "en" ? "zh-Hant" : "en";
    draw();
  });
  addEventListener("storage", (event) => {
    const item = event.key?.startsWith("bears:") ? byShown.get(event.key.slice(6)) : null;
    if (!item) return;
    read(item);
    warn("two_tabs");
    if (item === items[at]) draw();
    else progress();
  });
  addEventListener("beforeunload", (event) => {
    if (unsaved && !storing) event.preventDefault();
  });

  document.title = `${data.name} · BEARS`;
  root.lang = /^zh\b/i.test(navigator.language) ? "zh-Hant" : "en";
  items.forEach(read);
  if (!storing) warn("not_kept");
  // The report links to the documents of a question.
  const follow = () => {
    const wanted = new URLSearchParams(location.hash.slice(1)).get("question");
    const first = items.findIndex((item) => item.cells.record_id === wanted && !isDecided(item));
    go(first < 0 ? after(-1) : first);
  };
  follow();
  addEventListener("hashchange", follow);
})();
