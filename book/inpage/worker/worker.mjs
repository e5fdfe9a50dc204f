// One Python for a page. Asked {id, kind, ...}, it answers {id, result};
// in between it says what has been loaded or is being run.
import { loadPyodide } from "./pyodide.mjs";

const here = new URL("./", import.meta.url).href;
const MOST = 1 << 30; // bytes: WebAssembly never gives memory back
const PAGE = 65536;

// What Python cannot get is a MemoryError there.
const grow = WebAssembly.Memory.prototype.grow;
WebAssembly.Memory.prototype.grow = function (pages) {
  if (this.buffer.byteLength + pages * PAGE > MOST)
    throw new RangeError("no more memory than 1 GiB");
  return grow.call(this, pages);
};

let loaded = 0;
let missing = null; // the first file that did not come
const fetchFile = self.fetch.bind(self);
self.fetch = async (input, options) => {
  const name = String(input.url ?? input).split("/").at(-1);
  try {
    const answer = await fetchFile(input, options);
    if (!answer.ok) throw new Error(`the site answers ${answer.status}`);
    const { headers } = answer;
    return new Response(answer.body.pipeThrough(counter()), { headers });
  } catch (error) {
    missing ??= `${name}: ${error.message}`;
    postMessage({ failed: missing }); // Pyodide itself may wait for ever
    throw error;
  }
};
const counter = () => new TransformStream({
  transform(chunk, out) {
    loaded += chunk.byteLength;
    postMessage({ loaded });
    out.enqueue(chunk);
  },
});

self.onunhandledrejection = (event) => event.preventDefault(); // said above

const start = async () => {
  const pyodide = await loadPyodide({
    indexURL: here,
    lockFileURL: `${here}pyodide-lock.json`,
    packages: ["numpy", "attnlib"], // loaded side by side with Python
  });
  const source = await (await fetch(`${here}session.py`)).text();
  if (missing) throw new Error(missing);
  pyodide.FS.writeFile("/home/pyodide/session.py", source);
  const session = pyodide.pyimport("session");
  session.without_figures();
  return { pyodide, session, cells: session.Session() };
};

const answer = ({ session, cells, pyodide }, { id, kind, name, source, texts }) => {
  const given = pyodide.toPy(texts);
  const result = kind === "check"
    ? session.check(name, source, given)
    : cells.run(given, (text) => postMessage({ id, announce: text }));
  const plain = result.toJs({ dict_converter: Object.fromEntries });
  const heap = pyodide._module.HEAP8.length;
  return { ...plain, heap, restart: plain.restart || heap > MOST / 2 };
};

const python = start();
python.then(() => postMessage({ ready: true }),
  (error) => postMessage({ failed: missing ?? String(error.message ?? error) }));
self.onmessage = async ({ data }) => {
  const { id } = data;
  try {
    postMessage({ id, result: answer(await python, data) });
  } catch (error) { // the interpreter itself has ended
    postMessage({ id, broken: String(error.message ?? error) });
  }
};
