/** The sidecar as it is, in which the test then tries what no module may do. */
await import('../../../../src/skills/kinds/module/sidecar/main.ts');

const tried = (what: () => Promise<unknown>) => what().then(() => 'done', String);
const came = { fetch: typeof fetch, net: await tried(() => import('node:net')) };
process.stdout.write(`${JSON.stringify(came)}\n`);
