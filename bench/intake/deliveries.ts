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
 * Signed deliveries of 24 KB each, made before the clock starts: GitHub's example of an opened pull request,
 * each with different owner, repository, commits, ids and times, as in a burst from a large host. Deliveries
 * of one repository, the usual burst, would have more in common and compress better.
 */
export function signedDeliveries(count: number, secret = SECRET): SignedDelivery[] {
  return exampleBodies(count).map((body) => signed(body, secret));
}

export function signed(body: Buffer, secret: string): SignedDelivery {
  return { body, signature: `sha256=${createHmac('sha256', secret).update(body).digest('hex')}` };
}

/** The bodies of `signedDeliveries`, unsigned. */
export function exampleBodies(count: number): Buffer[] {
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
  return Array.from({ length: count }, (_, index) =>
    Buffer.from(text.replace(own, (word) => replacement(word, index))),
  );
}

/**
 * A word of the same length and kind. A delivery uses the same replacement wherever the word occurs, because
 * GitHub repeats ids.
 */
function replacement(word: string, index: number): string {
  const digest = createHash('sha256').update(`${index} ${word}`).digest();
  const hex = digest.toString('hex');
  const drawn = /^\d+$/.test(word)
    ? String(BigInt(`0x${hex}`))
    : /^[0-9a-f]{40}$/.test(word)
      ? hex
      : digest.toString('base64url').replaceAll(/[-_]/g, 'x');
  return drawn.slice(0, word.length);
}
