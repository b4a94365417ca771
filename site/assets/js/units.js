// Numbers become text as in suite/units.py; a test compares both.
(function () {
  "use strict";

  const DASH = "–", FAR = 0.1, SURE = 12, LONG = [3600, 600, 60, 10], SMALL = [[0, "s"], [-3, "ms"], [-6, "µs"], [-9, "ns"]];

  // A decimal number: an integer, and how many of its digits are decimals.
  function at(value, places, rounding) {
    const parts = Math.abs(value).toExponential(SURE - 1).split("e"), shift = Number(parts[1]) - SURE + 1 + places;
    let digits = BigInt(parts[0].replace(".", ""));
    if (shift >= 0) return { digits: digits * 10n ** BigInt(shift), places: places };
    const unit = 10n ** BigInt(-shift), rest = digits % unit;
    digits /= unit;
    const nearest = 2n * rest > unit || (2n * rest === unit && digits % 2n === 1n);
    if (rounding === "up" ? rest > 0n : rounding === "down" ? false : nearest) digits += 1n;
    return { digits: digits, places: places };
  }

  function decimals(value, half) {
    if (value === 0 || !Number.isFinite(value)) return 0;
    const first = -Number(value.toExponential().split("e")[1]), most = first + 2;
    if (!half || !Number.isFinite(half)) return most;
    const parts = half.toExponential(8).split("e");
    return Math.max(first, Math.min(-Number(parts[1]) + ("123".includes(parts[0][0]) ? 1 : 0), most));
  }

  function rounded(value, half, rounding) {
    const shown = at(value, decimals(value, half), rounding);
    return at(value, decimals(number(shown), half), rounding);
  }

  function text(shown) {
    let digits = String(shown.digits);
    if (shown.places <= 0) return grouped(digits === "0" ? digits : digits + "0".repeat(-shown.places));
    digits = digits.padStart(shown.places + 1, "0");
    return grouped(digits.slice(0, -shown.places)) + "." + digits.slice(-shown.places);
  }

  function number(shown) { return Number(text(shown).replaceAll(",", "")); }

  function moved(value, shown) { return value === 0 ? 0 : Math.abs(number(shown) - value) / Math.abs(value); }

  function grouped(digits) { return digits.replace(/\B(?=(\d{3})+$)/g, ","); }

  function missing(value) { return value === null || value === undefined || !Number.isFinite(value); }

  function halfWidth(low, high) { return missing(low) || missing(high) ? null : (high - low) / 2; }

  function seconds(value, low, high) {
    if (missing(value)) return DASH;
    const half = halfWidth(low, high), shown = rounded(value, half);
    if (number(shown) >= 120) return long(value, half);
    const reached = String(shown.digits).length - 1 - shown.places;
    const size = SMALL.find(function (each) { return reached >= each[0]; }) || SMALL[SMALL.length - 1];
    return text({ digits: shown.digits, places: shown.places + size[0] }) + "\u00a0" + size[1];
  }

  function long(value, half) {
    const least = Math.round(value) >= 3600 ? 60 : value >= 1000 ? 10 : 1;
    const wide = half === null ? 1 : LONG.find(function (each) { return each <= Math.min(half / 4, value); }) || 1;
    const step = Math.max(least, wide), total = Number(at(value / step, 0).digits) * step;
    const minutes = Math.floor(total / 60), two = function (number) { return String(number).padStart(2, "0"); };
    if (minutes >= 60) return Math.floor(minutes / 60) + "\u00a0h" + (step === 3600 ? "" : " " + two(minutes % 60) + "\u00a0min");
    return minutes + "\u00a0min" + (step >= 60 ? "" : " " + two(total % 60) + "\u00a0s");
  }

  function ratio(value, low, high) { return missing(value) ? DASH : text(rounded(value, halfWidth(low, high))) + "x"; }

  // An interval, never narrower than computed; with one digit more if an end would move by over a tenth of itself.
  function interval(low, high) {
    if (missing(low) || missing(high)) return DASH;
    const half = (high - low) / 2;
    if (half <= high * Math.pow(10, 1 - SURE)) return text(rounded(low, null)) + " to " + text(rounded(high, null));
    const places = decimals(high, half);
    const shown = [places, places + 1].map(function (each) { return [end(low, each, "down"), end(high, each, "up")]; });
    const moves = shown.map(function (pair) { return Math.max(moved(low, pair[0]), moved(high, pair[1])); });
    return shown[moves[0] > FAR && moves[1] < moves[0] ? 1 : 0].map(text).join(" to ");
  }

  function end(value, places, rounding) {
    const shown = at(value, places, rounding);
    return String(shown.digits).length <= 3 ? shown : at(value, places - 1, rounding);
  }

  window.suiteUnits = { seconds: seconds, ratio: ratio, interval: interval };
})();
