/** The plugin ships no types. */
declare module 'eslint-plugin-security' {
  const plugin: { configs: { recommended: import('eslint').Linter.Config } };
  export default plugin;
}
