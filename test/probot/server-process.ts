import { type ApplicationFunction, Probot, ProbotOctokit, Server } from 'probot';
import countersign from '../../src/probot.ts';

/**
 * A Probot server with options of its own, which hosts Countersign and another app. The other app has a page, and
 * one that closes the server. The server's `fetch` counts requests, and its Octokit has a plugin.
 */
let requests = 0;
const counting: typeof fetch = (input, init) => {
  requests++;
  return fetch(input, init);
};
const {
  APP_ID = '',
  PRIVATE_KEY = '',
  WEBHOOK_SECRET = '',
  HOST = '',
  PORT,
  GHE_HOST,
  ...rest
} = process.env;
// The App is known only to the server.
process.env = rest;

const other: ApplicationFunction = (app, { addHandler }) => {
  const seen: string[] = [];
  app.on('pull_request.opened', ({ payload }) => void seen.push(payload.pull_request.title));
  addHandler((request, response) => {
    if (request.url === '/close') {
      response.writeHead(200, { connection: 'close' }).end();
      void server.stop();
      return true;
    }
    if (request.url !== '/other') return false;
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ seen, requests }));
    return true;
  });
};

const server = new Server({
  host: HOST,
  port: Number(PORT),
  request: { fetch: counting },
  Probot: Probot.defaults({
    appId: APP_ID,
    privateKey: PRIVATE_KEY,
    secret: WEBHOOK_SECRET,
    baseUrl: `http://${GHE_HOST}/api/v3`,
    Octokit: ProbotOctokit.plugin(function pluginOfTheServer() {
      return {};
    }),
  }),
});
await server.load(other);
await server.load(countersign);
await server.start();
