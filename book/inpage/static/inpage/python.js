// The page's Python: a worker that is started by the first question, asked
// one thing at a time, and ended where it does not answer.
window.inPage = (() => {
  // Seconds for one question, once Python is loaded: the book's own cells end,
  // on a phone late.
  const LONGEST = { check: 30, run: 120, model: 120 };
  const all = (selector, within = document) =>
    [...within.querySelectorAll(selector)];
  const data = JSON.parse(
    document.getElementById("inpage-data")?.textContent ?? "{}");
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  let worker = null;
  let isReady = false;
  let current = null; // {id, say, resolve, timer}
  const waiting = []; // the same, in the order of their presses
  let count = 0;

  // A worker from a file has no policy but what the host sends, and a plain host sends none; one
  // from a blob has the policy of its page (book/inpage/policy.py).
  const start = () => {
    const script = new URL("worker.mjs", new URL(data.python, location.href));
    const blob = new Blob([`import ${JSON.stringify(script.href)};`], { type: "text/javascript" });
    const url = URL.createObjectURL(blob);
    worker = new Worker(url, { type: "module", name: data.packages.join(" ") });
    isReady = false;
    worker.onmessage = ({ data }) => {
      URL.revokeObjectURL(url); // it has been read
      take(data);
    };
    worker.onerror = () => fail("the site has no worker.mjs");
  };
  const end = () => {
    worker?.terminate();
    worker = null;
    isReady = false;
  };
  const renew = () => { // ready again before the next question
    end();
    start();
  };
  const finish = (result) => {
    clearTimeout(current?.timer);
    current?.resolve(result);
    current = null;
    next();
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
    // Not in MB: what is counted is unpacked, what was announced is not.
    if (message.loaded) current?.say("Loading Python.",
      `${Math.round(100 * message.loaded / data.bytes)} %`);
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
    if (result.restart) renew();
    finish(result);
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
    if (isReady) renew();
    else end();
    finish({ stopped: true, message });
  };
  const stopIt = (say) => {
    if (current?.say === say) return stop();
    const place = waiting.findIndex((question) => question.say === say);
    waiting.splice(place, 1)[0].resolve({ stopped: true, message: "Stopped." });
  };

  // One question: {kind, name, source, texts, answers, wish}; `say` gets what goes on, and
  // in a second text how far it is.
  const ask = (question, say) => new Promise((resolve) => {
    const id = (count += 1);
    waiting.push({ id, say, resolve, question: { ...question, id } });
    if (current) say("Waiting for what runs before.");
    else next();
  });
  const next = () => {
    current = waiting.shift() ?? null;
    if (!current) return;
    if (!worker) start();
    if (isReady) begin();
    else current.say("Loading Python.");
  };

  const isServed = location.protocol.startsWith("http");
  return { all, make, data, ask, stopIt,
    canRun: Boolean(data.python) && isServed && "Worker" in window };
})();
