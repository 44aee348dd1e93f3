/** Only for reading paths. */
const HERE = 'http://studio.invalid';

/**
 * The path and query to return to, or `/` for anything that could lead to another server, such as `//host`, `/\host`
 * and `https://host`.
 */
export function localPath(text: string | undefined): string {
  if (text === undefined || !/^\/(?![/\\])[\x21-\x7e]*$/.test(text) || text.length > 2_000) return '/';
  const url = URL.parse(text, HERE);
  if (url === null || url.origin !== HERE) return '/';
  // `/.//host` becomes `//host`.
  return url.pathname.startsWith('//') ? '/' : `${url.pathname}${url.search}`;
}
