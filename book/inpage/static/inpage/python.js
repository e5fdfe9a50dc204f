// The page's Python: a worker that is started by the first question, asked
// one thing at a time, and ended where it does not answer.
window.inPage = (() => {
  // Seconds for one question, once Python is loaded: the book's own cells end,
  // on a phone late.
  const LONGEST = { check: 30, run: 120 };
  const all = (selector, within = document) =>
    [...within.querySelectorAll(selector)];
  const data = JSON.parse(
    document.getElementById("inpage-data")?.textContent ?? "{}");
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

  let worker = null;
  let isReady = false;
  let current = null; // {id, say, resolve, timer}
  let queue = Promise.resolve();
  let count = 0;

  const start = () => {
    const folder = new URL(data.python, location.href);
    worker = new Worker(new URL("worker.mjs", folder), { type: "module" });
    isReady = false;
    worker.onmessage = ({ data }) => take(data);
    worker.onerror = () => fail("the site has no worker.mjs");
  };
  const end = () => {
    worker?.terminate();
    worker = null;
    isReady = false;
  };
  const finish = (result) => {
    clearTimeout(current?.timer);
    current?.resolve(result);
    current = null;
  };
  const fail = (why) => {
    end();
    finish({ failed: true, message: `Python could not be loaded (${why}). `
      + "Check the connection and try again, or use Colab." });
  };

  const take = (message) => {
    if (message.failed) return fail(message.failed);
    if (message.ready) {
      isReady = true;
      return begin();
    }
    if (message.loaded) current?.say("Loading Python.",
      `${megabytes(message.loaded)} of ${megabytes(data.bytes)} MB`);
    if (!current || message.id !== current.id) return;
    if (message.announce) {
      current.say("Running what stands above.", message.announce);
      limit(); // each cell has its own time
    }
    if (message.broken) stop("Python broke down at this: often a "
      + "call of itself without end. The next check has a new one.");
    if (message.result) answered(message.result);
  };
  const answered = (result) => {
    if (result.restart) end();
    finish(result);
    if (result.restart) start(); // ready again before the next question
  };
  const begin = () => {
    if (!current) return;
    current.say("Running.");
    limit();
    worker.postMessage(current.question);
  };
  const limit = () => {
    clearTimeout(current.timer);
    const longest = LONGEST[current.question.kind];
    current.timer = setTimeout(() => stop(`Stopped after ${longest} seconds. `
      + "Something here does not end, or is much too slow."), longest * 1000);
  };
  const stop = (message = "Stopped.") => {
    const wasReady = isReady;
    end();
    finish({ stopped: true, message });
    if (wasReady) start();
  };

  const cancelled = new Set(); // before their turn came
  const stopIt = (say) => current?.say === say ? stop() : cancelled.add(say);

  // One question: {kind, name, source, texts}; `say` gets what goes on, and
  // in a second text how far it is.
  const ask = (question, say) => {
    const id = (count += 1);
    if (current) say("Waiting for what runs before.");
    const turn = queue.then(() => cancelled.delete(say) ? {
      stopped: true, message: "Stopped." } : new Promise((resolve) => {
      current = { id, say, resolve, question: { ...question, id } };
      if (!worker) start();
      if (isReady) begin();
      else say("Loading Python.");
    }));
    queue = turn;
    return turn;
  };

  const isServed = location.protocol.startsWith("http");
  return { all, make, data, ask, stopIt,
    canRun: Boolean(data.python) && isServed && "Worker" in window };
})();
