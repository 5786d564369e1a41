/**
 * Lets this thread's other tasks run. It waits for a message instead of a timer: in a browser, a
 * timer that was set by a timer's task takes at least 4 ms.
 */
export const yieldToTasks = () =>
  new Promise<void>((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => resolve(port1.close());
    port2.postMessage(0);
  });
