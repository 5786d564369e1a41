/** Long work: one job at a time, in slices, so that the page can draw and answer between them. */

const SLICE = 6; // milliseconds
const STILL = 100; // milliseconds between two pictures of the work, because drawing them takes longer than the work

/** Does jobs one at a time. Of those that come meanwhile only the last is done. */
export function coalesce<Job>(work: (job: Job) => Promise<void>): (job: Job) => void {
  let waiting: { job: Job } | undefined, busy = false;
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

/** Returns a function to await after each piece of work. It pauses whenever a slice is used up. */
export function slices(): () => Promise<void> {
  let begin = performance.now();
  return async () => {
    if (performance.now() - begin < SLICE) return;
    await new Promise((next) => setTimeout(next));
    begin = performance.now();
  };
}

/**
 * Returns what does work for a version of the drawing, once. The work awaits `next` after each piece, which is false once
 * another version is to be followed. `changed` is called from time to time, and at the end. The answer is whether the
 * work was done.
 */
export function follower() {
  let current = -1, done = Promise.resolve(false);
  return (version: number, work: (next: () => Promise<boolean>) => Promise<boolean>, changed: () => void): Promise<boolean> => {
    if (version === current) return done;
    current = version;
    const pause = slices();
    let lastDraw = performance.now();
    const next = async () => {
      await pause();
      if (current !== version) return false;
      if (performance.now() - lastDraw < STILL) return true;
      changed();
      lastDraw = performance.now();
      return true;
    };
    done = work(next).then((isDone) => {
      if (isDone) changed();
      return isDone;
    });
    return done;
  };
}
