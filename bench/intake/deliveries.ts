import { createHmac } from 'node:crypto';
import { createRequire } from 'node:module';

export const SECRET = 'a-secret-only-for-the-benchmark';
export const PATH = '/api/github/webhooks';

export interface SignedDelivery {
  body: Buffer;
  signature: string;
}

interface Example {
  installation?: { id: number };
  pull_request: { number: number };
}

/**
 * Signed deliveries of 24 KB each, made before the clock starts: GitHub's example of an opened pull request under as many
 * numbers, filled up to the size with the description's text.
 */
export function signedDeliveries(count: number, bytes = 24 * 1024): SignedDelivery[] {
  const catalogue: { name: string; examples: Example[] }[] = createRequire(import.meta.url)(
    '@octokit/webhooks-examples',
  );
  const example = catalogue
    .find(({ name }) => name === 'pull_request')
    ?.examples.find((one) => one.installation);
  if (!example) throw new Error('no example of a pull request with an installation');
  return Array.from({ length: count }, (_, index) => {
    const fill = (text: string) =>
      JSON.stringify({
        ...example,
        action: 'opened',
        number: index + 1,
        pull_request: { ...example.pull_request, number: index + 1, body: text },
      });
    const body = Buffer.from(fill('x'.repeat(Math.max(0, bytes - fill('').length))));
    return { body, signature: `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}` };
  });
}
