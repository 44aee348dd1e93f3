/** One page of ListObjectsV2. */
export interface Listing {
  objects: { key: string; size: number; modifiedAt: Date }[];
  /** The token of the next page; `undefined` on the last. */
  next: string | undefined;
}

/**
 * Parses a page of https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html; `undefined` for
 * anything else, such as a truncated response. Rejected: an XML parser, which would be a dependency for four
 * flat elements.
 */
export function parseListing(xml: string): Listing | undefined {
  if (!/<ListBucketResult[\s>]/.test(xml) || !/<\/ListBucketResult>\s*$/.test(xml)) return undefined;
  const encoded = field(xml, 'EncodingType') === 'url';
  const objects = [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].map(([, contents = '']) => {
    const key = field(contents, 'Key') ?? '';
    return {
      key: encoded ? decoded(key) : key,
      size: Number(field(contents, 'Size') ?? Number.NaN),
      modifiedAt: new Date(field(contents, 'LastModified') ?? Number.NaN),
    };
  });
  const whole = objects.every(
    ({ key, size, modifiedAt }) => key !== '' && size >= 0 && !Number.isNaN(modifiedAt.getTime()),
  );
  const truncated = field(xml, 'IsTruncated') === 'true';
  const next = truncated ? field(xml, 'NextContinuationToken') : undefined;
  // A page that is truncated but names no next page must not count as the last.
  return whole && (!truncated || next !== undefined) ? { objects, next } : undefined;
}

/** Empty if the key is malformed. */
function decoded(key: string): string {
  try {
    return decodeURIComponent(key.replaceAll('+', ' '));
  } catch {
    return '';
  }
}

function field(xml: string, name: string): string | undefined {
  const text = new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1];
  return text?.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|quot|apos|amp));/gi, readEntity);
}

const NAMED: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', apos: "'", amp: '&' };

function readEntity(_all: string, hex?: string, decimal?: string, name?: string): string {
  if (name !== undefined) return NAMED[name] ?? '';
  const code = hex === undefined ? Number(decimal) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '\uFFFD';
}
