// Published times, combined as suite/results/stats/pooling.py and suite/results/compare/cells.py do; tests compare both.
// A side is a list of parts, each with a sign: a time has one, a speed-up two, of the CPU and of the GPU.
(function () {
  "use strict";

  const CALLED = 3, FEWEST_DEGREES = 1.5;
  const INSIDE = "inside the range of the next host", OPEN = "undecided";

  // Logarithm of the gamma function. Source: Lanczos, A precision approximation of the gamma function (1964).
  function logGamma(x) {
    const terms = [76.18009172947146, -86.50532032941677, 24.01409824083091, -1.231739572450155, 0.1208650973866179e-2, -0.5395239384953e-5];
    const sum = terms.reduce(function (all, term, place) { return all + term / (x + place + 1); }, 1.000000000190015);
    return (x + 0.5) * Math.log(x + 5.5) - (x + 5.5) + Math.log(2.5066282746310005 * sum / x);
  }

  // Regularized incomplete beta function by its continued fraction. Source: Lentz (1976).
  function beta(x, a, b) {
    if (x <= 0) return 0;
    if (x >= 1) return 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
    const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log1p(-x)) / a;
    let c = 1, d = 1 / Math.max(1 - (a + b) * x / (a + 1), 1e-300), all = d;
    for (let m = 1; m < 1000; m += 1) {
      const even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
      const odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));
      const before = all;
      [even, odd].forEach(function (term) {
        d = 1 / (1 + term * d || 1e-300);
        c = 1 + term / c || 1e-300;
        all *= c * d;
      });
      if (Math.abs(all - before) < 1e-15 * Math.abs(all)) break;
    }
    return front * all;
  }

  // The 97.5 % point of Student's t distribution, by bisection.
  function tQuantile(degrees) {
    let low = 0, high = 1e9;
    if (!(degrees < 1e6)) return 1.959963984540054;
    for (let turn = 0; turn < 200; turn += 1) {
      const middle = low > 1 ? Math.sqrt(low * high) : (low + Math.min(high, 4 * low + 2)) / 2;
      if (beta(degrees / (degrees + middle * middle), degrees / 2, 0.5) > 0.05) low = middle; else high = middle;
      if (high - low < 1e-12 * high) break;
    }
    return (low + high) / 2;
  }

  function total(parts) { return parts.reduce(function (sum, part) { return sum + part.variance; }, 0); }

  function freedom(parts) {
    return Math.pow(total(parts), 2) / parts.reduce(function (sum, part) { return sum + part.variance * part.variance / part.degrees; }, 0);
  }

  function reach(parts) { return tQuantile(freedom(parts)) * Math.sqrt(total(parts)); }

  function errors(side) { return side.map(function (part) { return { variance: part.error2, degrees: part.degrees }; }); }

  // Of a further campaign of so many rounds, one if nothing else is known.
  function further(side, rounds) {
    return side.map(function (part) {
      return { variance: part.error2 + part.tau2 + part.sigma2 / (rounds || 1), degrees: part.degrees };
    });
  }

  function centre(side) { return side.reduce(function (sum, part) { return sum + part.sign * part.centre; }, 0); }

  function known(side) { return side.every(function (part) { return part.degrees > 0; }); }

  function interval(middle, parts, around) {
    const enough = parts.every(function (part) { return part.degrees > 0; }) && freedom(parts) >= FEWEST_DEGREES;
    if (!enough) return { value: Math.exp(middle), low: null, high: null };
    const half = reach(around || parts);
    return { value: Math.exp(middle), low: Math.exp(middle - half), high: Math.exp(middle + half) };
  }

  function estimate(side) { return interval(centre(side), errors(side)); }

  function range(side) { return interval(centre(side), errors(side), further(side)); }

  // The first side over the second.
  function ratio(first, second) { return interval(centre(first) - centre(second), errors(first.concat(second))); }

  function smallestChange(first, second) {
    const sides = first.concat(second);
    if (!known(sides)) return null;
    const degrees = Math.min.apply(null, sides.map(function (part) { return part.degrees; }));
    return Math.exp(Math.max(CALLED, tQuantile(degrees)) * Math.sqrt(total(errors(sides))));
  }

  // What may be said of the second side, if a larger first side means that the second is faster.
  function verdict(first, second) {
    const over = ratio(first, second), least = smallestChange(first, second);
    if (over.low === null || least === null) return OPEN;
    if (Math.max(over.value, 1 / over.value) > least) return over.value > 1 ? "faster" : "slower";
    return Math.abs(Math.log(over.value)) <= reach(further(first)) ? INSIDE : OPEN;
  }

  // One campaign of one host as a side, with the variances of a published one.
  function campaign(published, seconds) {
    const logs = seconds.map(Math.log), sum = logs.reduce(function (all, each) { return all + each; }, 0);
    return [Object.assign({}, published, { centre: sum / logs.length, error2: published.tau2 + published.sigma2 / logs.length, sign: 1, rounds: logs.length })];
  }

  // What may be said of a campaign on a machine of the published kind: its mean should lie in the range of so many rounds.
  function ofCampaign(published, own) {
    const off = centre(published) - centre(own);
    if (!known(published)) return OPEN;
    const parts = published.map(function (part, place) { return further([part], own[place].rounds)[0]; });
    if (freedom(parts) < FEWEST_DEGREES) return OPEN;
    return Math.abs(off) <= reach(parts) ? INSIDE : off > 0 ? "faster" : "slower";
  }

  window.suitePooled = {
    tQuantile: tQuantile, estimate: estimate, range: range, ratio: ratio, smallestChange: smallestChange, verdict: verdict,
    campaign: campaign, ofCampaign: ofCampaign, centre: centre
  };
})();
