/** See web/demo/worst.mjs. */
declare module "virtual:worst-digits" {
  const address: string | undefined;
  export default address;
}
