/**
 * What the guides use of GitHub's command line, against the stand-in: `gh auth token`, and `gh api` with a method and an
 * input. GitHub's own speaks only HTTPS.
 */
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

const { GH_TOKEN_OF_THE_NEWCOMER: token = '', GITHUB_API_URL: url = '' } = process.env;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    method: { type: 'string', default: 'GET' },
    input: { type: 'string' },
    silent: { type: 'boolean' },
  },
});
const [group, what = ''] = positionals;

if (group === 'auth' && what === 'token') console.log(token);
else if (group === 'api') {
  const answer = await fetch(`${url}/${what.replace(/^\//, '')}`, {
    method: values.method,
    headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
    ...(values.input === undefined ? {} : { body: readFileSync(values.input, 'utf8') }),
  });
  if (!values.silent) console.log(await answer.text());
  process.exitCode = answer.ok ? 0 : 1;
} else throw new Error(`The guides' tests know no gh ${positionals.join(' ')}.`);
