/** Studio's words outside of pages. */

export const STUDIO_FAILED: Readonly<Record<411 | 413 | 502 | 503, string>> = {
  411: 'Say how long the body is, with a Content-Length header.',
  413: 'This is longer than anything that Studio accepts.',
  502: 'Studio ended while it answered. Try again.',
  503: 'Countersign is stopping. Try again in a moment.',
};

export const NOT_FOUND = {
  title: 'Not found',
  text: 'There is nothing here, or you cannot see it on GitHub. Check the address, and with which account you signed in.',
};

export const BROKEN = {
  title: 'Something failed',
  text: 'This page could not be made. The server’s log says why.',
};

export const SIGN_IN_NEEDED = {
  title: 'Sign in',
  text: 'Studio shows what GitHub lets you see, so it must know who you are.',
};

export const NO_SIGN_IN = {
  title: 'Nobody can sign in here yet',
  text: 'The operator of this server can set GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET, or read on the server itself with the command "countersign studio".',
};

export const READ_ONLY = {
  title: 'Read-only',
  text: 'You opened Studio by the link that was printed on the server, which only reads. To change something, use the command line there, or sign in to the Studio of the running app.',
};

export const NO_ANSWER = {
  title: 'GitHub does not answer',
  text: 'Studio shows only what GitHub lets you see, and GitHub did not say what that is. Try again in a moment.',
};

export const SIGN_IN_REFUSED = {
  title: 'You are not signed in',
  text: 'You did not let Countersign act for you on GitHub. Studio needs that to know what you may see.',
};

export const SIGN_IN_FAILED = {
  title: 'You are not signed in',
  text: 'GitHub did not confirm who you are. The link that GitHub gave works once and for ten minutes; sign in again.',
};

export const SIGN_IN_ELSEWHERE = {
  title: 'This sign-in did not begin here',
  text: 'It began in another browser, or more than ten minutes ago. Sign in again.',
};

export const TOO_MANY_SIGN_INS = {
  title: 'Too many sign-ins',
  text: 'There were too many attempts from your address. Try again in ten minutes.',
};

export const FORGED =
  'This form was not sent from a page that Studio made for you, or you have signed in again since. Go back, reload the page and try again.';

export const NO_FORM = 'Studio takes what browsers send for a form: application/x-www-form-urlencoded.';

export const LINK_IS_USED =
  'This link was used already, or is not the one that was printed. Start "countersign studio" again for a new one.';

export const OTHER_HOST = 'Open Studio by localhost or 127.0.0.1. Other names could belong to another site.';

/** Printed where Studio was started. */
export function studioAt(url: string): string {
  return `Studio is at ${url}\nThe link works once. Studio is read-only here, and ends with Ctrl-C.\n`;
}
