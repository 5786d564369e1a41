/** See web/demo/mnist.mjs. */
declare module "virtual:mnist-digits" {
  const address: string | undefined;
  export default address;
}

/** See web/demo/worst.mjs. */
declare module "virtual:worst-digits" {
  const address: string | undefined;
  export default address;
}
