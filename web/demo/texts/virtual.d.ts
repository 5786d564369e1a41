/** See translations.mjs. */
declare module "virtual:languages" {
  const addresses: Readonly<Record<string, string>>;
  export default addresses;
}
