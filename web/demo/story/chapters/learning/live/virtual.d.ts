/** See web/demo/mnist.mjs. */
declare module "virtual:mnist-digits" {
  const address: string | undefined;
  export default address;
}
