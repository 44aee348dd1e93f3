const SAFE = /[^A-Za-z0-9\-._~:/?#@!$&+,;=%]/g;

/**
 * A Markdown link, or only the text if the address is unsafe. Addresses come from the authors of checks, so
 * only http and https are allowed, and every character that Markdown could interpret is percent-encoded.
 * @param text Markdown, encoded by the caller
 */
export function link(text: string, address: string | null): string {
  const safe = address === null ? undefined : safeAddress(address);
  return safe === undefined ? text : `[${text}](${safe})`;
}

/** The address, encoded for Markdown; `undefined` if it is unsafe. */
export function safeAddress(address: string): string | undefined {
  if (address.length > 2_000 || !URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return undefined;
  // `https://github.com@evil.example` leads to evil.example.
  if (url.username !== '' || url.password !== '') return undefined;
  return url.href.replace(SAFE, (letter) => `%${letter.charCodeAt(0).toString(16).padStart(2, '0')}`);
}
