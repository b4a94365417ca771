// A record or a pack of one's own, read in the browser and laid beside the published times. Nothing is sent.
(function () {
  "use strict";

  const place = document.getElementById("own"), page = window.suiteCompare, reading = window.suiteRecords, pooled = window.suitePooled, units = window.suiteUnits;
  if (!place || !page || !reading) return;
  const element = page.element, data = page.data, MOST_ROWS = 40;
  const input = element("input", undefined, { type: "file", accept: ".json,.zip", multiple: true, id: "own-file" });
  const label = element("label", "Choose a record or a pack, or drop it here: "), result = element("div"), zone = element("div", undefined, { className: "drop" });
  let results = [];

  // What a case has beside workload, side, scope and way, as suite/results/compare/cells.py writes it.
  function setting(record) {
    const parts = record.case.batch === record.description.batch ? [] : ["batch " + record.case.batch];
    Object.keys(data.axes).forEach(function (axis) {
      const value = current(axis, record.case[axis] === undefined ? data.axes[axis] : record.case[axis]);
      const chosen = axis === "threads" && record.backend === "cpu" && value === data.threads[[record.workload, implementation(record), record.machine.cores].join(" ")];
      const ignored = axis === "allocator" || axis === "implementation" || axis === "variant" || (axis === "data" && value === "random") || chosen;
      if (!ignored && value !== data.axes[axis]) parts.push(axis + " " + value);
    });
    return parts.join(", ");
  }

  function current(axis, value) { return (data.former[axis] || {})[value] || value; }

  function implementation(record) { return record.case.implementation || "jax"; }

  function way(record) {
    const variant = current("variant", record.case.variant || "plain");
    return data.ways[implementation(record) + " " + variant] || implementation(record) + " " + variant;
  }

  // As `kind_text` in suite/results/compare/cells.py: what machines share whose times are of one kind.
  function kind(record, side) {
    const machine = record.machine, stated = machine.cpu_vendor && machine.cpu_family != null && machine.cpu_number != null;
    const name = machine.cpu_model.replace(/@.*/, ""), tells = /\d/.test(name) && !data.architectures.includes(name.trim().toLowerCase());
    const slug = machine.name.replace(/,/g, " ").trim().split(/\s+/).join("-");
    const numbers = /^(Intel|AMD)\b.*, (family \d+ model \d+)$/.exec(machine.cpu_model);
    const model = stated ? machine.cpu_vendor + " family " + machine.cpu_family + " model " + machine.cpu_number
      : numbers ? { Intel: "GenuineIntel", AMD: "AuthenticAMD" }[numbers[1]] + " " + numbers[2]
      : tells ? machine.cpu_model : machine.cpu_model + "|" + slug;
    const gpus = side === "gpu" ? (machine.gpus || []).map(function (gpu) { return [gpu.name, gpu.slice || "", gpu.power_limit_watts == null ? "" : String(gpu.power_limit_watts)]; }) : [];
    return JSON.stringify([model, machine.cores, machine.virtual == null ? null : machine.virtual].concat(gpus));
  }

  function own(found) {
    const record = found.record, seconds = reading.stepSeconds(record).filter(function (value) { return value > 0; });
    return {
      record: record, digest: found.digest, seconds: seconds, machine: record.machine.name, workload: record.workload, side: record.backend,
      scope: record.case.scope, method: record.method || 0, way: way(record), setting: setting(record), kind: kind(record, record.backend)
    };
  }

  function same(one, other) {
    return ["workload", "side", "scope", "way", "setting"].every(function (axis) { return one[axis] === other[axis]; });
  }

  // Times of one's own, and speed-ups of campaigns with both sides, each with the published cells of its case.
  function matched(times) {
    const ratios = times.filter(function (one) { return one.side === "gpu"; }).flatMap(function (gpu) {
      const float32 = gpu.setting.split(", ").filter(function (part) { return !part.startsWith("precision "); }).join(", ");
      const cpu = times.find(function (one) { return one.record.campaign === gpu.record.campaign && same(one, Object.assign({}, gpu, { side: "cpu", setting: float32 })); });
      return cpu ? [Object.assign({}, gpu, { side: "speed-up", cpu: cpu })] : [];
    });
    return ratios.concat(times).map(function (one) {
      const beside = page.cells.filter(function (cell) { return cell.current && same(one, cell); });
      return Object.assign(one, { beside: beside });
    }).filter(function (one) { return one.beside.length; });
  }

  function parts(one, cell) {
    if (one.side !== "speed-up") return pooled.campaign(cell.parts[0], one.seconds);
    const below = pooled.campaign(cell.parts[1], one.seconds)[0];
    return pooled.campaign(cell.parts[0], one.cpu.seconds).concat([Object.assign(below, { sign: -1 })]);
  }

  function ofKind(one, cell) {
    const sides = one.side === "speed-up" ? [["gpu", one], ["cpu", one.cpu]] : [[one.side, one]];
    return sides.every(function (side) { return side[1].kind === data.kinds[cell.machine + " " + side[0]]; });
  }

  function judged(one, cell) {
    const mine = parts(one, cell), more = one.side === "speed-up";
    const judge = ofKind(one, cell) ? pooled.ofCampaign : pooled.verdict;
    const word = one.method === cell.method ? judge(cell.parts, mine) : page.ANOTHER;
    return {
      one: one, cell: cell, mine: pooled.estimate(mine).value, range: pooled.range(cell.parts),
      over: more ? pooled.ratio(mine, cell.parts) : pooled.ratio(cell.parts, mine), verdict: more ? { faster: "smaller", slower: "larger" }[word] || word : word
    };
  }

  function shownAs(side, value) { return side === "speed-up" ? units.ratio(value) : units.seconds(value); }

  const SIDES = { cpu: "CPU", gpu: "GPU", "speed-up": "CPU over GPU" };

  // Each row: the published value with the range of a further campaign, and one's own as a diamond.
  function chart(rows, name) {
    const ratios = rows.filter(function (row) { return row.one.side === "speed-up"; }), drawn = (ratios.length ? ratios : rows).slice(0, MOST_ROWS);
    const ends = drawn.flatMap(function (row) { return [row.mine, row.range.value, row.range.low || row.range.value, row.range.high || row.range.value]; }).map(Math.log);
    const low = Math.min.apply(null, ends), width = Math.max.apply(null, ends) - low || 1, box = element("div", undefined, { className: "overlay" });
    function at(value) { return 3 + 94 * (Math.log(value) - low) / width + "%"; }
    box.setAttribute("role", "img");
    box.setAttribute("aria-label", "Your values beside those of " + name + "; the table below has all of them.");
    drawn.forEach(function (row) {
      const track = element("div", undefined, { className: "track" }), bar = element("i", undefined, { className: "range" });
      if (row.range.low !== null) {
        bar.style.left = at(row.range.low);
        bar.style.width = "calc(" + at(row.range.high) + " - " + at(row.range.low) + ")";
        track.append(bar);
      }
      [["published", row.range.value], ["yours", row.mine]].forEach(function (mark) {
        const dot = element("i", undefined, { className: mark[0] });
        dot.style.left = at(mark[1]);
        track.append(dot);
      });
      box.append(element("div", [page.named(row.one), row.one.scope, SIDES[row.one.side], row.one.way].join(", "), { className: "name" }), track);
    });
    const axis = element("p", "Logarithmic, from " + shownAs(drawn[0].one.side, Math.exp(low)) + " to " + shownAs(drawn[0].one.side, Math.exp(low + width)) + ". Diamond: yours. Circle: " + name + ". Bar: range of a further campaign there.", { className: "note" });
    return [box, axis];
  }

  function show(chosen) {
    const machines = new Map();
    results.forEach(function (one) { one.beside.forEach(function (cell) { machines.set(cell.machine, (machines.get(cell.machine) || 0) + (ofKind(one, cell) ? 1e6 : 1e3) + cell.hosts); }); });
    const order = Array.from(machines.keys()).sort(function (one, other) { return machines.get(other) - machines.get(one); });
    const form = element("form", undefined, { className: "filters" }), machine = page.choice(form, "beside", "beside", order, chosen, function (slug) { return data.machines[slug]; });
    form.addEventListener("submit", function (event) { event.preventDefault(); });
    form.addEventListener("change", function (event) { show(event.target.value); });
    const rows = results.flatMap(function (one) { return one.beside.filter(function (cell) { return cell.machine === machine; }).map(function (cell) { return judged(one, cell); }); });
    const counts = {}, name = data.machines[machine], mine = results[0].machine;
    rows.forEach(function (row) { counts[row.verdict] = (counts[row.verdict] || 0) + 1; });
    const words = Object.keys(counts).map(function (word) { return word + " in " + counts[word]; }).join(", ");
    const checked = results.every(function (one) { return one.digest === "matches"; }) ? "Every digest matches." : "This browser cannot check digests here, so a change of the file would not show.";
    const heads = ["model", "time of", mine + " (yours)", name, "yours: times as fast", "95 % interval", "yours is"];
    const body = rows.map(function (row) {
      return [page.named(row.one), [SIDES[row.one.side], row.one.scope, row.one.way].join(", "), { text: shownAs(row.one.side, row.mine), sort: row.mine }, page.amount(row.cell), { text: units.ratio(row.over.value, row.over.low, row.over.high), sort: row.over.value }, units.interval(row.over.low, row.over.high), { text: row.verdict, words: true }];
    });
    result.replaceChildren(
      form, element("p", "Beside " + name + ", yours is " + words + ", of " + rows.length + " results. " + checked, { className: "said" }),
      ...chart(rows, name), page.table("Your machine and " + name, heads, body),
      element("p", "For speed-ups the column 'times as fast' has yours over the published one. Your one host is taken to differ from others of its kind as published hosts differ. The page checks form, digest and numbers; suite validate checks everything.", { className: "note" })
    );
  }

  function refuse(sentence) { result.replaceChildren(element("p", sentence, { className: "refused" })); }

  async function take(files) {
    results = [];
    try {
      const every = [];
      for (const file of files) every.push(...await reading.readFile(file));
      const timed = every.filter(function (found) { return found.record.profile !== "smoke"; });
      if (!every.length) return refuse("No file was chosen.");
      if (!timed.length) return refuse("The record is of profile smoke, which only shows that the suite runs; run a campaign without it.");
      const times = timed.map(own).filter(function (one) { return one.seconds.length; });
      if (!times.length) return refuse("No process of the record succeeded" + (timed[0].record.reason ? ": " + timed[0].record.reason : "") + ".");
      results = matched(times);
      if (!results.length) return refuse("Nothing published has the same case: " + [times[0].workload, times[0].side, times[0].scope, times[0].way, times[0].setting].filter(Boolean).join(", ") + ".");
      show();
    } catch (error) {
      refuse(reading.said(error));
    }
  }

  window.suiteOwn = { described: own };
  result.setAttribute("role", "status");
  input.addEventListener("change", function () { take(Array.from(input.files)); });
  ["dragover", "dragenter"].forEach(function (name) {
    zone.addEventListener(name, function (event) { event.preventDefault(); zone.classList.add("over"); });
  });
  zone.addEventListener("dragleave", function () { zone.classList.remove("over"); });
  zone.addEventListener("drop", function (event) {
    event.preventDefault();
    zone.classList.remove("over");
    take(Array.from(event.dataTransfer.files));
  });
  label.append(input);
  zone.append(label);
  place.replaceChildren(zone, result);
})();
