// The page of records shows the one that its address names, from its campaign's pack.
(function () {
  "use strict";

  const place = document.getElementById("record"), reading = window.suiteRecords;
  let latest = 0;

  function element(name, text, more) {
    const made = document.createElement(name);
    if (text !== undefined) made.textContent = text;
    return Object.assign(made, more || {});
  }

  function asked() {
    const name = decodeURIComponent(location.search.slice(1)), campaign = decodeURIComponent(location.hash.slice(1));
    const plain = /^[a-z0-9][a-z0-9._=,-]{0,240}$/;
    return plain.test(name) && plain.test(campaign) ? { name: name, campaign: campaign, pack: "records/" + campaign + ".zip" } : null;
  }

  function facts(found) {
    const record = found.record, list = element("dl", undefined, { className: "facts" });
    const packages = Object.entries(record.software.packages).map(function (pair) { return pair.join(" "); });
    [
      ["Campaign", record.campaign], ["Machine", record.machine.name], ["CPU", record.machine.cpu_model],
      ["GPUs", (record.machine.gpus || []).map(function (gpu) { return gpu.name; }).join(", ") || "none"],
      ["Written", record.created], ["Profile", record.profile], ["Suite", record.commit || "unknown"],
      ["Packages", packages.join(", ")], ["Reason", record.reason || "none"], ["Digest", found.digest]
    ].forEach(function (pair) {
      const group = element("div");
      group.append(element("dt", pair[0]), element("dd", pair[1]));
      list.append(group);
    });
    return list;
  }

  function processes(record) {
    const box = element("div", undefined, { className: "scroll", tabIndex: 0 }), table = element("table", undefined, { className: "results" });
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Processes");
    table.append(element("caption", "Processes, one a round"));
    const head = table.createTHead().insertRow();
    ["round", "seconds a step", "samples", "steps a sample", "reason"].forEach(function (name) { head.append(element("th", name, { scope: "col" })); });
    const times = reading.stepSeconds(record), body = table.createTBody();
    record.runs.forEach(function (run, index) {
      const row = body.insertRow(), value = times[index];
      row.append(element("th", String(run.round + 1), { scope: "row" }));
      [value ? window.suiteUnits.seconds(value) : "–", String((run.samples || []).length), String(run.steps_per_sample || 0), run.reason || "–"].forEach(function (text) {
        row.append(element("td", text));
      });
    });
    box.append(table);
    return box;
  }

  function shown(found, wanted) {
    const file = element("a", "save as JSON", { download: wanted.name + ".json", href: URL.createObjectURL(new Blob([found.text], { type: "application/json" })) });
    const whole = element("details"), line = element("p");
    whole.append(element("summary", "The whole record"), element("pre", found.text, { tabIndex: 0 }));
    line.append(file);
    place.replaceChildren(element("h2", wanted.name), facts(found), processes(found.record), line, whole);
    place.scrollIntoView();
  }

  function failed(wanted, sentence) {
    const line = element("p", sentence + " ", { className: "note" }), pack = element("a", "the pack of the campaign", { href: wanted.pack });
    const label = element("label", "The pack: "), input = element("input", undefined, { type: "file", accept: ".zip,.json" });
    line.append("The record is " + wanted.name + ".json in ", pack, ". Download it, then choose it here; it stays in this browser.");
    input.addEventListener("change", function () {
      if (input.files[0]) input.files[0].arrayBuffer().then(function (buffer) { return from(new Uint8Array(buffer), wanted); });
    });
    label.append(input);
    place.replaceChildren(element("h2", wanted.name), line, label);
    place.scrollIntoView();  // the address leads to the campaign's row
  }

  async function from(bytes, wanted) {
    try {
      const found = await reading.one(bytes, wanted.name + ".json");
      if (found) shown(found, wanted); else failed(wanted, "That pack has no such record.");
    } catch (error) {
      failed(wanted, reading.said(error));
    }
  }

  async function show() {
    const wanted = asked(), turn = latest += 1;
    place.hidden = !wanted;
    if (!wanted) return;
    place.replaceChildren(element("h2", wanted.name), element("p", "Reading the pack …"));
    if (location.protocol === "file:") return failed(wanted, "A page that is opened from a file may not read other files.");
    try {
      const answer = await fetch(wanted.pack);
      if (!answer.ok) return failed(wanted, "The site has no pack of this campaign.");
      const bytes = new Uint8Array(await answer.arrayBuffer());
      if (turn === latest) await from(bytes, wanted);
    } catch (error) {
      failed(wanted, "The pack could not be fetched.");
    }
  }

  if (place && reading) {
    window.addEventListener("hashchange", show);
    // Loading ends at the row that the address names; the record stands above it.
    window.addEventListener("load", function () { setTimeout(function () { if (!place.hidden) place.scrollIntoView(); }); });
    show();
  }
})();
