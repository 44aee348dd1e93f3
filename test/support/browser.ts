import { OAUTH_CLIENT } from './github/oauth.ts';
import type { Harness } from './harness.ts';

/** Settings of Studio with sign-in at the stand-in. */
export const WITH_SIGN_IN = { isPublic: false, operators: [] as string[], signIn: OAUTH_CLIENT };

/** A browser without JavaScript: it keeps cookies, follows redirects and sends forms. */
export interface Browser {
  /** Cookies by name. */
  readonly cookies: Map<string, string>;
  /** Opens a path of Studio, or a whole address, and follows where it leads. */
  open(path: string): Promise<Page>;
  /** One request, without following. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Sends the form whose action is that path, from the page, with changed fields. */
  send(page: Page, action: string, fields?: Record<string, string>): Promise<Page>;
}

interface Page {
  status: number;
  /** Where it is, after redirects. */
  url: string;
  text: string;
  headers: Headers;
}

export function openBrowser({ app }: Pick<Harness, 'app'>): Browser {
  const cookies = new Map<string, string>();
  const base = () => app.url;

  async function request(path: string, init: RequestInit = {}): Promise<Response> {
    const url = new URL(path, base());
    const own = url.origin === base();
    const response = await fetch(url, {
      redirect: 'manual',
      ...init,
      headers: {
        ...(own && cookies.size > 0
          ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') }
          : {}),
        ...(init.method === 'POST' ? { origin: base() } : {}),
        ...init.headers,
      },
    });
    if (own) {
      for (const line of response.headers.getSetCookie()) {
        const [pair = '', ...attributes] = line.split(';');
        const [name = '', value = ''] = pair.split('=');
        if (attributes.some((one) => /^\s*max-age=0$/i.test(one))) cookies.delete(name);
        else cookies.set(name, value);
      }
    }
    return response;
  }

  async function follow(path: string, init?: RequestInit): Promise<Page> {
    let url = new URL(path, base()).href;
    let response = await request(url, init);
    for (let hops = 0; hops < 10 && response.status >= 300 && response.status < 400; hops++) {
      await response.body?.cancel();
      url = new URL(response.headers.get('location') ?? '', url).href;
      response = await request(url);
    }
    return { status: response.status, url, text: await response.text(), headers: response.headers };
  }

  return {
    cookies,
    request,
    open: (path) => follow(path),
    send(page, action, fields = {}) {
      const body = new URLSearchParams({ ...fieldsOf(page.text, action), ...fields });
      return follow(action, { method: 'POST', body });
    },
  };
}

/** A browser in which the person is signed in. */
export async function signedIn(harness: Harness, login: string, to = '/'): Promise<Browser> {
  const browser = openBrowser(harness);
  harness.github.signInAs(login);
  await browser.open(`/sign-in?to=${encodeURIComponent(to)}`);
  return browser;
}

/** The hidden fields of the first form with that action. */
function fieldsOf(text: string, action: string): Record<string, string> {
  const [, form] =
    [...text.matchAll(/<form\b[^>]*>[\s\S]*?<\/form>/g)]
      .map(([found]) => [/<form\b[^>]*\baction="([^"]*)"/.exec(found)?.[1], found] as const)
      .find(([found]) => found === action) ?? [];
  if (form === undefined) throw new Error(`The page has no form for ${action}.`);
  return Object.fromEntries(
    [...form.matchAll(/<(?:input|button)\b[^>]*>/g)].flatMap(([field]) => {
      const name = /\bname="([^"]*)"/.exec(field)?.[1];
      return name === undefined ? [] : [[name, /\bvalue="([^"]*)"/.exec(field)?.[1] ?? '']];
    }),
  );
}

/** The token of the forms of a person who is signed in. */
async function csrfOf(browser: Browser): Promise<string> {
  return /name="csrf" value="([^"]+)"/.exec((await browser.open('/runs')).text)?.[1] ?? '';
}

/** Sends a form, as a page for the person would. */
export async function post(browser: Browser, action: string, fields: Record<string, string>) {
  const body = new URLSearchParams({ csrf: await csrfOf(browser), ...fields });
  return browser.request(action, { method: 'POST', body });
}

/** What the page says to which the answer leads. */
export async function said(browser: Browser, answer: Response): Promise<string> {
  const page = await browser.open(answer.headers.get('location') ?? '/none');
  return /<p class="flash[^>]*>(?:<span[^>]*>.<\/span> )?(.*?)<\/p>/.exec(page.text)?.[1] ?? '';
}
