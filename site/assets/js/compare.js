// The page that compares: two machines, versions or ways, chosen in the address; and records of one's own beside them.
(function () {
  "use strict";

  const place = document.getElementById("compare"), source = document.getElementById("cells");
  if (!place || !source || !window.suitePooled) return;
  const pooled = window.suitePooled, units = window.suiteUnits, data = JSON.parse(source.textContent);
  const AXES = ["machine", "workload", "side", "scope", "way", "setting", "version"];
  const ANOTHER = "timed by another method"; // in place of a verdict
  const LABELS = { machine: "machine", side: "time of", scope: "scope", way: "way", version: "version" };
  const cells = data.cells.map(function (row) {
    const cell = { current: row[7] === 1 };
    AXES.forEach(function (axis, index) { cell[axis] = data.words[row[index]]; });
    cell.hosts = row[13];
    cell.method = Number(cell.version.split(", method ").pop());
    cell.parts = [{ sign: 1, centre: row[8], error2: row[9], tau2: row[10], sigma2: row[11], degrees: row[12] }];
    return cell;
  });
  const all = cells.concat(speedups(cells)), latest = new Map(); // the newest method of each scope
  all.forEach(function (cell) { latest.set(cell.scope, Math.max(cell.method, latest.get(cell.scope) || 0)); });

  // CPU time over GPU time, where a machine has both: float32 at highest precision on the CPU.
  function speedups(times) {
    const cpus = new Map();
    times.forEach(function (cell) { if (cell.side === "cpu") cpus.set(key(cell, ["machine", "workload", "scope", "way", "setting", "version"]), cell); });
    return times.flatMap(function (gpu) {
      if (gpu.side !== "gpu") return [];
      const setting = gpu.setting.split(", ").filter(function (part) { return !part.startsWith("precision "); }).join(", ");
      const cpu = cpus.get(key(Object.assign({}, gpu, { setting: setting }), ["machine", "workload", "scope", "way", "setting", "version"]));
      if (!cpu) return [];
      const below = gpu.parts.map(function (part) { return Object.assign({}, part, { sign: -1 }); });
      return [Object.assign({}, gpu, { side: "speed-up", current: gpu.current && cpu.current, hosts: Math.min(cpu.hosts, gpu.hosts), parts: cpu.parts.concat(below) })];
    });
  }

  function key(cell, axes) { return axes.map(function (axis) { return cell[axis]; }).join("\n"); }

  function element(name, text, more) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, more || {});
  }

  function shown(axis, value) {
    if (axis === "machine") return data.machines[value] || value;
    return axis === "side" ? { cpu: "the CPU", gpu: "the GPU", "speed-up": "CPU over GPU (speed-up)" }[value] : value;
  }

  // The values of an axis, first those with most hosts behind results that fit, then behind all.
  function distinct(list, axis, fits) {
    const counts = new Map();
    list.forEach(function (cell) {
      const [fitting, every] = counts.get(cell[axis]) || [0, 0];
      counts.set(cell[axis], [fitting + (fits(cell) ? cell.hosts : 0), every + cell.hosts]);
    });
    return Array.from(counts.keys()).sort(function (one, other) {
      const [fitting, every] = counts.get(one), [others, otherEvery] = counts.get(other);
      return others - fitting || otherEvery - every;
    });
  }

  function amount(cell) {
    const value = pooled.estimate(cell.parts);
    return (cell.side === "speed-up" ? units.ratio : units.seconds)(value.value, value.low, value.high);
  }

  function table(caption, heads, rows) {
    const box = element("div", undefined, { className: "scroll", tabIndex: 0 }), made = element("table", undefined, { className: "results" });
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", caption);
    made.append(element("caption", caption));
    const head = made.createTHead().insertRow(), body = made.createTBody();
    heads.forEach(function (name, index) { head.append(element("th", name, { scope: "col", className: rows[0][index].words ? "text" : "" })); });
    rows.forEach(function (texts) {
      const row = body.insertRow();
      texts.forEach(function (text, index) {
        const cell = element(index ? "td" : "th", text.text === undefined ? text : text.text);
        if (text.page) cell.replaceChildren(element("a", text.text, { href: "workloads/" + encodeURIComponent(text.page) + ".html" }));
        if (!index) cell.scope = "row";
        if (text.words) cell.className = "text phrase";
        if (text.sort !== undefined) cell.dataset.sort = text.sort;
        row.append(cell);
      });
    });
    box.append(made);
    if (window.Tablesort && rows.length > 1) new Tablesort(made);
    return box;
  }

  // A select for an axis. The first choice is what the address asks for, if there is such a value.
  function choice(form, name, label, values, wanted, words) {
    const chosen = values.includes(wanted) ? wanted : values[0], line = element("label", label + " "), select = element("select", undefined, { name: name });
    values.forEach(function (value) { select.add(new Option(words(value), value, false, value === chosen)); });
    line.append(select);
    form.append(line);
    return chosen;
  }

  function compared() {
    const asked = new URLSearchParams(location.search), form = element("form", undefined, { className: "filters" }), state = {};
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    state.by = choice(form, "by", "compare", ["machine", "version", "way"], asked.get("by"), function (axis) { return axis + "s"; });
    const rest = AXES.filter(function (axis) { return axis !== state.by && axis !== "version"; });
    const groups = new Map(), candidates = state.by === "version" ? all : all.filter(function (cell) { return cell.current; });
    candidates.forEach(function (cell) { groups.set(key(cell, rest), (groups.get(key(cell, rest)) || []).concat(cell)); });
    // A result's partners are those that differ from it in what is compared alone. The newest method gets the first choice.
    function partners(cell) { return groups.get(key(cell, rest)).filter(function (other) { return other[state.by] !== cell[state.by]; }); }
    function judged(cell) { return cell.method === latest.get(cell.scope) && partners(cell).some(function (other) { return other.method === cell.method; }); }
    let left = candidates.filter(function (cell) { return partners(cell).length; });
    ["side", "scope", "machine", "way"].filter(function (axis) { return axis !== state.by && left.length; }).forEach(function (axis) {
      const values = distinct(left, axis, judged), usual = { side: "gpu", scope: "step", way: "jax" }[axis];
      const good = left.some(judged) ? left.filter(judged) : left;
      if (good.some(function (cell) { return cell[axis] === usual; })) values.unshift(values.splice(values.indexOf(usual), 1)[0]);
      state[axis] = choice(form, axis, LABELS[axis], values, asked.get(axis), function (value) { return shown(axis, value); });
      left = left.filter(function (cell) { return cell[axis] === state[axis]; });
    });
    const values = distinct(left, state.by, judged);
    if (values.length < 2) return { form: form, state: state, rows: [] };
    state.a = choice(form, "a", "first", values, asked.get("a"), function (value) { return shown(state.by, value); });
    function ofFirst(cell) { return partners(cell).filter(function (other) { return other[state.by] === state.a; }); }
    const others = distinct(left.filter(function (cell) { return ofFirst(cell).length; }), state.by, function (cell) {
      return ofFirst(cell).some(function (other) { return other.method === cell.method; });
    });
    state.b = choice(form, "b", "second", others, asked.get("b"), function (value) { return shown(state.by, value); });
    const rows = left.filter(function (cell) { return cell[state.by] === state.a; }).flatMap(function (first) {
      const second = left.find(function (cell) { return cell[state.by] === state.b && key(cell, rest) === key(first, rest); });
      return second ? [line(first, second)] : [];
    });
    return { form: form, state: state, rows: rows };
  }

  function line(first, second) {
    const more = first.side === "speed-up", word = first.method === second.method ? pooled.verdict(first.parts, second.parts) : ANOTHER;
    const over = more ? pooled.ratio(second.parts, first.parts) : pooled.ratio(first.parts, second.parts);
    return { first: first, second: second, over: over, verdict: more ? { faster: "smaller", slower: "larger" }[word] || word : word };
  }

  function named(cell) { return (data.titles[cell.workload] || cell.workload) + (cell.setting ? ", " + cell.setting : ""); }

  // A documented model has a page.
  function linked(cell) { return { text: named(cell), page: (data.pages || []).includes(cell.workload) && cell.workload }; }

  function show() {
    const found = compared(), state = found.state, words = state.a === undefined ? [] : [shown(state.by, state.a), shown(state.by, state.b)];
    const heads = ["model", words[0], words[1], state.side === "speed-up" ? "second / first" : "times as fast", "95 % interval", "the second is", "hosts"];
    const rows = found.rows.map(function (row) {
      return [linked(row.first), sorted(amount(row.first), row.first), sorted(amount(row.second), row.second), { text: units.ratio(row.over.value, row.over.low, row.over.high), sort: row.over.value }, units.interval(row.over.low, row.over.high), { text: row.verdict, words: true }, row.first.hosts + ", " + row.second.hosts];
    });
    const counts = {};
    found.rows.forEach(function (row) { counts[row.verdict] = (counts[row.verdict] || 0) + 1; });
    const said = rows.length ? "Of " + rows.length + " results in common the second is " + Object.keys(counts).map(function (word) { return word + " in " + counts[word]; }).join(", ") + "." : "No result has two " + state.by + "s to compare.";
    place.replaceChildren(found.form, element("p", said, { className: "said" }));
    place.querySelector(".said").setAttribute("role", "status");
    if (rows.length) place.append(table(words.join(" and "), heads, rows));
    found.form.addEventListener("change", function (event) {
      const name = event.target.name, next = new URLSearchParams();
      if (name !== "by") Object.keys(state).forEach(function (other) { next.set(other, state[other]); });
      next.set(name, event.target.value);
      try { history.replaceState(null, "", "?" + next + location.hash); } catch (refused) { /* a file in some browsers */ }
      show();
      const again = place.querySelector("select[name='" + name + "']");
      if (again) again.focus();
    });
  }

  function sorted(text, cell) { return { text: text, sort: pooled.estimate(cell.parts).value }; }

  window.suiteCompare = {
    cells: all, data: data, ANOTHER: ANOTHER, element: element, table: table, choice: choice, named: named, amount: amount
  };
  show();
})();
