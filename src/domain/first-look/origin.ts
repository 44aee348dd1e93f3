/** Where a repository is, as git's configuration says. */
export interface Origin {
  /** With its port, if it has one. */
  host: string;
  owner: string;
  name: string;
}

const SECTION = /^\s*\[\s*remote\s+"origin"\s*\]/i;
const ANY_SECTION = /^\s*\[/;
const URL_LINE = /^\s*url\s*=\s*(\S+)\s*$/i;
const PATH = /^\/?([A-Za-z0-9][A-Za-z0-9-]{0,38})\/([A-Za-z0-9._-]{1,100}?)(?:\.git)?\/?$/;
/** The short form of SSH: `git@github.com:owner/name.git`. */
const SHORT_SSH = /^(?:[^@/\s]+@)?([^:/\s]+):(?!\/\/)(.+)$/;

/**
 * The repository of the remote `origin`.
 * @param config the text of `.git/config`: https://git-scm.com/docs/git-config#_configuration_file
 * @returns `undefined` without such a remote, and if its address is no repository of a server
 */
export function originOf(config: string): Origin | undefined {
  const lines = config.split('\n');
  const start = lines.findIndex((line) => SECTION.test(line));
  if (start < 0) return undefined;
  for (const line of lines.slice(start + 1)) {
    if (ANY_SECTION.test(line)) return undefined;
    const url = URL_LINE.exec(line)?.[1];
    if (url !== undefined) return placeOf(url);
  }
  return undefined;
}

function placeOf(url: string): Origin | undefined {
  if (/^(https?|ssh|git):\/\//.test(url)) {
    if (!URL.canParse(url)) return undefined;
    const { protocol, host, hostname, pathname } = new URL(url);
    // The port of SSH says nothing about the pages of the server.
    return named(protocol.startsWith('http') ? host : withoutSsh(hostname), pathname);
  }
  const [, host, path] = SHORT_SSH.exec(url) ?? [];
  return host === undefined || path === undefined ? undefined : named(withoutSsh(host), path);
}

/** https://docs.github.com/en/authentication/troubleshooting-ssh/using-ssh-over-the-https-port */
function withoutSsh(host: string): string {
  return host.replace(/^ssh\./, '');
}

function named(host: string, path: string): Origin | undefined {
  const [, owner, name] = PATH.exec(path) ?? [];
  return owner === undefined || name === undefined ? undefined : { host: host.toLowerCase(), owner, name };
}
