// Search runs in a worker, which browsers refuse to a page that was opened from a file: there a hidden frame takes its
// place. This file is loaded twice then, by the page and, asked for as "?inside", by the frame.
(function () {
  "use strict";
  var here = document.currentScript.src;
  if (location.protocol !== "file:" && !here.endsWith("?inside")) return;

  function loaded(address) {
    return new Promise(function (done, failed) {
      var script = document.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      document.body.append(script);
    });
  }

  if (here.endsWith("?inside")) {
    window.postMessage = function (message) { parent.postMessage(message, "*"); };
    window.importScripts = function () {
      return Array.from(arguments).reduce(function (before, address) {
        return before.then(function () { return loaded(address); });
      }, Promise.resolve());
    };
    return;
  }

  // Addresses are encoded already: encoded again, a folder with '#', '?' or '+' in its name would be another one.
  function script(address) {
    return '<script src="' + new URL(address, location.href).href.replace(/&/g, "&amp;") + '"><\/script>';
  }

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      var frame = document.createElement("iframe"), told = this;
      frame.hidden = true;
      document.body.append(frame);
      this.frame = frame;
      this.ready = new Promise(function (done) { frame.addEventListener("load", done, { once: true }); });
      frame.contentDocument.open();
      frame.contentDocument.write("<!doctype html><body>" + script(here + "?inside") + script(address));
      frame.contentDocument.close();
      window.addEventListener("message", function (event) {
        if (event.source !== frame.contentWindow) return;
        told.dispatchEvent(new MessageEvent("message", { data: event.data }));
        if (told.onmessage) told.onmessage(event);
      });
    }

    postMessage(message) {
      var frame = this.frame;
      this.ready.then(function () {
        frame.contentWindow.dispatchEvent(new MessageEvent("message", { data: structuredClone(message) }));
      });
    }

    terminate() { this.frame.remove(); }
  };
})();
