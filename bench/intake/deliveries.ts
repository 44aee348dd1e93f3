import { createHash, createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

export const SECRET = 'a-secret-only-for-the-benchmark';
export const PATH = '/api/github/webhooks';

export interface SignedDelivery {
  body: Buffer;
  signature: string;
}

interface Example {
  installation?: { id: number };
  repository: { name: string; owner: { login: string } };
}

/**
 * Signed deliveries of 24 KB each, made before the clock starts: GitHub's example of an opened pull request, each with another owner,
 * repository, commits, ids and times, as in a burst from all over a large host. They have in common what all of GitHub's have:
 * those of one repository, which a burst usually is about, would have more.
 */
export function signedDeliveries(count: number): SignedDelivery[] {
  const catalogue: { name: string; examples: Example[] }[] = createRequire(import.meta.url)(
    '@octokit/webhooks-examples',
  );
  const example = catalogue
    .find(({ name }) => name === 'pull_request')
    ?.examples.find((one) => one.installation);
  if (!example) throw new Error('no example of a pull request with an installation');
  const text = JSON.stringify(example);
  const { name, owner } = example.repository;
  const own = new RegExp(`${owner.login}|${name}|[0-9a-f]{40}|\\d{4,}|(?<="node_id":")[^"]+`, 'g');
  return Array.from({ length: count }, (_, index) => {
    const body = Buffer.from(text.replace(own, (word) => another(word, index)));
    return { body, signature: `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
  });
}

/** Another word of the same length and kind; the same one wherever the word occurs in a delivery, since ids recur in GitHub's. */
function another(word: string, index: number): string {
  const digest = createHash('sha256').update(`${index} ${word}`).digest();
  const hex = digest.toString('hex');
  const drawn = /^\d+$/.test(word)
    ? String(BigInt(`0x${hex}`))
    : /^[0-9a-f]{40}$/.test(word)
      ? hex
      : digest.toString('base64url').replaceAll(/[-_]/g, 'x');
  return drawn.slice(0, word.length);
}
