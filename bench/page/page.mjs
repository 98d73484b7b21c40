/** Offers `fitInWorker(m)`: milliseconds of a fit in a module worker, and its bound. */
const worker = new Worker(new URL("worker.mjs", import.meta.url), { type: "module" });

globalThis.fitInWorker = (numIndividuals) =>
  new Promise((resolve, reject) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => reject(new Error(event.message));
    worker.postMessage(numIndividuals);
  });
