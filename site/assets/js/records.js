// Records and packs of records, read and checked in the browser; nothing leaves it.
// `suiteRecords.read(bytes, name)` gives the records of a file, or rejects with one sentence on what is wrong.
(function () {
  "use strict";

  const MIB = 2 ** 20, MOST = { file: 64 * MIB, record: 4 * MIB, unpacked: 256 * MIB, members: 4096 };
  const SCHEMAS = ["result/0", "result/1", "result/2"], DEEPEST = 16, LARGEST = 3.4028235e38;
  const SIGN = { end: 0x06054b50, entry: 0x02014b50, local: 0x04034b50 };

  class Refused extends Error {}

  // The names in a message come from the file: short, and printable.
  function quoted(text) {
    return "'" + String(text).replace(/[^\x20-\x7e]/g, "\ufffd").slice(0, 80) + "'";
  }

  async function inflated(bytes, most) {
    if (!window.DecompressionStream) throw new Refused("This browser cannot unpack ZIP archives; choose a record's JSON file.");
    const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw")).getReader();
    const parts = [];
    let length = 0;
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      length += value.length;
      if (length > most) { await reader.cancel(); throw new Refused("A record in the pack is larger than the pack says."); }
      parts.push(value);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  // The members of a flat ZIP archive with no comment, as `suite publish` and `python -m zipfile` write it.
  function members(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), end = bytes.length - 22;
    const broken = new Refused("The ZIP archive is incomplete: it was truncated, or data follow its end.");
    if (end < 0 || view.getUint32(end, true) !== SIGN.end) throw broken;
    const count = view.getUint16(end + 10, true), decoder = new TextDecoder();
    if (count > MOST.members) throw new Refused("The ZIP archive has " + count + " files; a pack has at most " + MOST.members + ".");
    const found = [];
    let at = view.getUint32(end + 16, true), unpacked = 0;
    for (let index = 0; index < count; index += 1) {
      if (at + 46 > bytes.length || view.getUint32(at, true) !== SIGN.entry) throw broken;
      const lengths = [28, 30, 32].map(function (place) { return view.getUint16(at + place, true); });
      const name = decoder.decode(bytes.subarray(at + 46, at + 46 + lengths[0]));
      const one = { name: name, flags: view.getUint16(at + 8, true), how: view.getUint16(at + 10, true), packed: view.getUint32(at + 20, true), size: view.getUint32(at + 24, true), local: view.getUint32(at + 42, true) };
      if (!/^[a-z0-9][a-z0-9._-]{0,240}\.json$/.test(name) || name.includes("..")) {
        throw new Refused("The ZIP archive holds " + quoted(name) + ", which is no record; a pack holds only NAME.json.");
      }
      if (one.flags & 1) throw new Refused("The ZIP archive is encrypted.");
      if (one.how !== 0 && one.how !== 8) throw new Refused("The ZIP archive is not compressed by deflate.");
      if (one.size > MOST.record) throw new Refused("A record has at most 4 MiB; " + quoted(name) + " has more.");
      unpacked += one.size;
      if (unpacked > MOST.unpacked) throw new Refused("The ZIP archive unpacks to more than 256 MiB.");
      found.push(one);
      at += 46 + lengths[0] + lengths[1] + lengths[2];
    }
    return found;
  }

  async function content(bytes, member) {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), at = member.local;
    const damaged = new Refused("The pack is damaged at " + quoted(member.name) + "; download it again.");
    if (at + 30 > bytes.length || view.getUint32(at, true) !== SIGN.local) throw damaged;
    const start = at + 30 + view.getUint16(at + 26, true) + view.getUint16(at + 28, true);
    if (start + member.packed > bytes.length) throw damaged;
    const packed = bytes.subarray(start, start + member.packed);
    if (member.how === 0) return packed;
    let whole;
    try {
      whole = await inflated(packed, member.size);
    } catch (error) {
      throw error instanceof Refused ? error : damaged;
    }
    if (whole.length !== member.size) throw damaged;
    return whole;
  }

  // Throws the place of the first value that no record may have. JSON.parse reads 1e999 as Infinity.
  function walk(value, place, depth) {
    if (typeof value === "number") {
      if (!(Math.abs(value) <= LARGEST)) throw new Refused("The number at " + place + " is too large.");
      if (value < 0 && /_(seconds|bytes|watts|joules)$/.test(place)) throw new Refused("The number at " + place + " is negative.");
    } else if (typeof value === "string") {
      if (value.length > 4000) throw new Refused("The text at " + place + " is too long.");
    } else if (value !== null && typeof value === "object") {
      if (depth >= DEEPEST) throw new Refused("The file is nested deeper than " + DEEPEST + " levels.");
      Object.keys(value).forEach(function (key) { walk(value[key], place + "." + key.replace(/[^\w-]/g, "?").slice(0, 40), depth + 1); });
    }
  }

  const KINDS = {
    text: function (value) { return typeof value === "string"; },
    count: function (value) { return Number.isSafeInteger(value) && value >= 0; },
    list: Array.isArray,
    object: function (value) { return value !== null && typeof value === "object" && !Array.isArray(value); }
  };
  const FIELDS = {
    campaign: "text", created: "text", profile: "text", workload: "text", backend: "text", case: "object", "case.workload": "text",
    "case.scope": "text", "case.batch": "count", machine: "object", "machine.name": "text", "machine.cpu_model": "text",
    "machine.cores": "count", software: "object", "software.packages": "object", description: "object", "description.batch": "count",
    runs: "list", rounds: "count"
  };

  function shaped(record) {
    Object.keys(FIELDS).forEach(function (path) {
      const value = path.split(".").reduce(function (one, name) { return one && one[name]; }, record);
      if (!KINDS[FIELDS[path]](value)) throw new Refused("The record has no valid field '" + path + "'.");
    });
    const named = [record.campaign, record.workload, record.machine.name.replace(/,? +/g, "-")];
    named.forEach(function (name) {
      if (!/^[a-z0-9][a-z0-9._-]{0,80}$/.test(name)) throw new Refused("The record has a name that no file may have: " + quoted(name) + ".");
    });
    if (record.case.workload !== record.workload) throw new Refused("The record contradicts itself: its case is of another workload.");
    record.runs.forEach(function (run, index) {
      const samples = KINDS.object(run) && (run.samples || []);
      const fits = Array.isArray(samples) && samples.every(function (one) { return KINDS.object(one) && one.wall_seconds > 0 && typeof one.wall_seconds === "number"; });
      if (!fits || (samples.length && !(run.steps_per_sample >= 1))) throw new Refused("Process " + (index + 1) + " of the record has no valid samples.");
    });
  }

  // The file says its own digest: that of all its bytes with an empty digest. Null if this browser cannot tell.
  async function intact(text, stated) {
    if (!window.crypto || !crypto.subtle) return null;
    const blank = text.split('"digest": "' + stated + '"').join('"digest": ""');
    const sum = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(blank)));
    return Array.from(sum, function (byte) { return byte.toString(16).padStart(2, "0"); }).join("") === stated;
  }

  async function checked(bytes, name) {
    let text, record;
    if (bytes.length > MOST.record) throw new Refused("A record has at most 4 MiB; this file has " + (bytes.length / MIB).toFixed(1) + ".");
    try {
      text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    } catch (error) {
      throw new Refused("The file is neither text nor a ZIP archive, so it is no record and no pack of records.");
    }
    try {
      record = JSON.parse(text);
    } catch (error) {
      throw new Refused("The file is not JSON, or it is truncated, so it is no record.");
    }
    if (!KINDS.object(record)) throw new Refused("The file is JSON, but no record.");
    if (!SCHEMAS.includes(record.schema)) {
      const read = " This page reads records of the formats " + SCHEMAS.join(", ") + ", which suite run writes.";
      if (record.schema === undefined) throw new Refused("The file is JSON, but no record: it names no format." + read);
      throw new Refused("The file is no record, or one of another version of the suite: its format is " + quoted(record.schema) + "." + read);
    }
    walk(record, "$", 0);
    shaped(record);
    const same = await intact(text, String(record.digest || ""));
    if (same === false) throw new Refused("The record was changed after it was written: its digest does not match.");
    return { name: name, record: record, text: text, digest: same ? "matches" : "not checked" };
  }

  async function read(bytes, name) {
    if (bytes.length > MOST.file) throw new Refused("A pack has at most 64 MiB; this file has more.");
    if (!bytes.length) throw new Refused("The file is empty.");
    if (bytes[0] !== 0x50 || bytes[1] !== 0x4b) return [await checked(bytes, name)];
    const list = members(bytes), records = [];
    if (!list.length) throw new Refused("The pack holds no record.");
    for (const member of list) records.push(await checked(await content(bytes, member), member.name));
    return records;
  }

  async function readFile(file) {
    try {
      if (file.size > MOST.file) throw new Refused("A pack has at most 64 MiB; this file has " + Math.round(file.size / MIB) + ".");
      return await read(new Uint8Array(await file.arrayBuffer()), file.name);
    } catch (error) {
      throw error instanceof Refused ? new Refused(quoted(file.name) + ": " + error.message) : error;
    }
  }

  // One member of a pack by its name; null if the pack has none of that name.
  async function one(bytes, name) {
    const member = members(bytes).find(function (each) { return each.name === name; });
    return member ? checked(await content(bytes, member), name) : null;
  }

  // Seconds of a step by process, as suite/results/single/summary.py takes them: method 0 has the median, others the mean.
  function stepSeconds(record) {
    return record.runs.map(function (run) {
      const walls = (run.samples || []).map(function (sample) { return sample.wall_seconds; });
      if (run.reason || !walls.length) return null;
      return (record.method ? mean(walls) : median(walls)) / run.steps_per_sample;
    });
  }

  function mean(values) { return values.reduce(function (sum, value) { return sum + value; }, 0) / values.length; }

  function median(values) {
    const order = values.slice().sort(function (a, b) { return a - b; }), middle = order.length / 2;
    return order.length % 2 ? order[Math.floor(middle)] : (order[middle - 1] + order[middle]) / 2;
  }

  function said(error) {
    return error instanceof Refused ? error.message : "The file could not be read.";
  }

  window.suiteRecords = { read: read, readFile: readFile, one: one, stepSeconds: stepSeconds, mean: mean, said: said };
})();
