// One Python for a page. Asked {id, kind, ...}, it answers {id, result};
// in between it says what has been loaded or is being run.
// The page starts it from a blob (python.js), so the page's policy is its own too:
// no other host, and no text becomes JavaScript.
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

// Python reaches all that a worker has. Once it is loaded, nothing of that leads out of it: not
// to the site, not to what the browser keeps for the site, not to another worker.
const LEADS_OUT = ["fetch", "fetchLater", "XMLHttpRequest", "WebSocket", "WebSocketStream",
  "WebTransport", "EventSource", "importScripts", "Worker", "SharedWorker", "BroadcastChannel",
  "RTCPeerConnection", "RTCDataChannel", "FontFace", "fonts", "caches", "Cache", "CacheStorage",
  "indexedDB", "IDBFactory", "cookieStore", "Notification", "FileSystemHandle",
  "webkitRequestFileSystem", "webkitRequestFileSystemSync",
  "webkitResolveLocalFileSystemURL", "webkitResolveLocalFileSystemSyncURL"];
const LEADS_OUT_OF_NAVIGATOR = ["sendBeacon", "serviceWorker", "storage", "storageBuckets",
  "locks", "permissions", "connection", "usb", "serial", "hid"];
const takeAway = (object, names) => {
  for (let holder = object; holder; holder = Object.getPrototypeOf(holder))
    for (const name of names) delete holder[name];
  const left = names.filter((name) => name in object);
  if (left.length) throw new Error(`this browser does not give up ${left.join(", ")}`);
};

// attnlib and attncourse come as one file (bundle.py).
const unpack = ({ FS, pyimport, unpackArchive }) => {
  const [site] = pyimport("site").getsitepackages().toJs();
  const packed = `${site}/attnlib-sources.tar`;
  unpackArchive(FS.readFile(packed), "tar", { extractDir: site });
  FS.unlink(packed);
  pyimport("importlib").invalidate_caches();
};

const start = async () => {
  const pyodide = await loadPyodide({
    indexURL: here,
    lockFileURL: `${here}pyodide-lock.json`,
    packages: self.name.split(" "), // what the page needs, loaded side by side with Python
  });
  const source = await (await fetch(`${here}session.py`)).text();
  if (missing) throw new Error(missing);
  unpack(pyodide);
  takeAway(self, LEADS_OUT);
  takeAway(navigator, LEADS_OUT_OF_NAVIGATOR);
  pyodide.FS.writeFile("/home/pyodide/session.py", source);
  const session = pyodide.pyimport("session");
  session.without_figures();
  return { pyodide, session, cells: session.Session(), untouched: session.Untouched() };
};

const answer = ({ session, cells, pyodide, untouched }, question) => {
  const { id, kind, name, source, texts, answers, wish } = question;
  const given = pyodide.toPy(texts);
  if (answers) cells.hand_over(answers);
  const result = kind === "check" ? session.check(name, source, given)
    : kind === "model" ? cells.model(wish)
      : cells.run(given, (text) => postMessage({ id, announce: text }));
  const plain = result.toJs({ dict_converter: Object.fromEntries });
  const heap = pyodide._module.HEAP8.length;
  // After np.exp = np.cos no right answer would be right: the next question gets a new Python.
  const restart = plain.restart || heap > MOST / 2 || untouched.has_changed();
  return { ...plain, heap, restart };
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
