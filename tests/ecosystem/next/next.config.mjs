export default {
  serverExternalPackages: ["vitrine"],
};
