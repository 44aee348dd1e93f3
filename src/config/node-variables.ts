/** Node's own variables that decide how a server is reached: https://nodejs.org/docs/latest-v24.x/api/cli.html#environment-variables */
const OF_CONNECTIONS = [
  'NODE_EXTRA_CA_CERTS',
  'NODE_USE_SYSTEM_CA',
  'NODE_USE_ENV_PROXY',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
] as const;

/** Those that are set, for a process of ours that has no other environment and reaches GitHub. */
export function variablesOfConnections(): Record<string, string> {
  return Object.fromEntries(
    OF_CONNECTIONS.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
