/** Makes a queue: jobs run one after the other, in the order given, and a failed one does not hold up the next. */
export function createSerialQueue(): <T>(job: () => Promise<T>) => Promise<T> {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const next = last.then(job);
    last = next.catch(() => undefined); // That job's caller gets its error; the queue only needs to know when it has ended.
    return next;
  };
}
