/** Does jobs one at a time. Of those that come meanwhile only the last is done. */
export function coalesce<Job>(work: (job: Job) => Promise<void>): (job: Job) => void {
  let waiting: { job: Job } | undefined;
  let busy = false;
  const go = async () => {
    busy = true;
    try {
      for (let next = waiting; next; next = waiting) {
        waiting = undefined;
        await work(next.job);
      }
    } finally {
      busy = false;
    }
  };
  return (job) => {
    waiting = { job };
    if (!busy) void go();
  };
}
