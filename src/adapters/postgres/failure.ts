import { CountersignError } from '../../core/errors.ts';
import { StorageLocked } from '../../ports/locked.ts';

/** Nothing more can be done on the connection, and nobody can know from it what became of its transaction. */
export class ConnectionLost extends CountersignError {
  constructor(message: string, options?: ErrorOptions) {
    super('storage.unavailable', message, options);
    this.name = 'ConnectionLost';
  }
}

/** What PostgreSQL and Node.js say of an error: an SQLSTATE, or a code such as `ECONNREFUSED`. */
function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}

/**
 * Adds what the database's owner can do about an error, and returns errors of statements unchanged. SQLSTATEs:
 * https://www.postgresql.org/docs/current/errcodes-appendix.html
 * @param name such as `the database countersign on db.example.com`
 */
export function postgresFailure(error: unknown, name: string): unknown {
  if (error instanceof CountersignError || !(error instanceof Error)) return error;
  const code = codeOf(error);
  if (code !== undefined && LOCKED.has(code)) {
    return new StorageLocked(
      `The ${name.slice('the '.length)} is locked: another process has been writing to it for too long.`,
      { cause: error },
    );
  }
  const lost = lostSentence(error, code, name);
  if (lost !== undefined) return new ConnectionLost(lost, { cause: error });
  const sentence = NO_PASSWORD.test(error.message)
    ? `The server of ${name} wants a password, and DATABASE_URL has none.`
    : sentenceFor(code, name);
  return sentence === undefined
    ? error
    : new CountersignError('storage.unavailable', sentence, { cause: error });
}

/** `lock_not_available`, `serialization_failure`, `deadlock_detected` */
const LOCKED: ReadonlySet<string> = new Set(['55P03', '40001', '40P01']);

/** What `pg` says without a code when a connection ends, does not come about in time, or does not answer in time. */
const ENDED =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded|timeout expired|Query read timeout)/;

/** What `pg` says without a code when the server asks for a password that nobody gave it. */
const NO_PASSWORD = /client password must be a (non-empty )?string/;

/**
 * Whether the server only reads. A standby, such as a primary before a failover, says 25006 to a statement that writes. To the beginning
 * of a transaction that may write, it says 0A000, which other errors have, too. The routine tells them apart in any language.
 */
function onlyReads(error: Error, code: string | undefined): boolean {
  const isRefusedMode = code === '0A000' && 'routine' in error && error.routine === 'call_bool_check_hook';
  return code === '25006' || isRefusedMode;
}

/** Also for a server that only reads: the address may lead to another one by now, but not this connection. */
function lostSentence(error: Error, code: string | undefined, name: string): string | undefined {
  if (onlyReads(error, code))
    return `The server of ${name} only reads, as a standby does: let DATABASE_URL name the primary.`;
  switch (code) {
    case 'ECONNREFUSED':
    case 'ENOENT':
      return `Nothing answers where ${name} should be: is PostgreSQL running there?`;
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `The host of ${name} is unknown: check DATABASE_URL and the name service.`;
    case 'ETIMEDOUT':
    case 'EHOSTUNREACH':
    case 'ENETUNREACH':
      return `The host of ${name} does not answer: check the network between it and this machine.`;
    case '57P03':
      return `The server of ${name} is starting or stopping. It is tried again.`;
    case 'ECONNRESET':
    case 'EPIPE':
    // admin_shutdown, crash_shutdown, database_dropped
    case '57P01':
    case '57P02':
    case '57P04':
    // idle_in_transaction_session_timeout
    case '25P03':
      return `The connection to ${name} ended: its server was restarted, or the network failed.`;
    default:
      return code?.startsWith('08') || (code === undefined && ENDED.test(error.message))
        ? `The connection to ${name} ended: its server was restarted, or the network failed.`
        : undefined;
  }
}

function sentenceFor(code: string | undefined, name: string): string | undefined {
  switch (code) {
    case '28P01':
    case '28000':
      return `The server of ${name} refused the user or the password of DATABASE_URL.`;
    case '3D000':
      return `There is no such database as ${name}: create it, owned by the user of DATABASE_URL.`;
    case '42501':
      return `The user of DATABASE_URL may not do in ${name} what the app needs: let it own the database.`;
    case '53100':
      return `The disk of the server that has ${name} is full. Make room on it; nothing recorded so far is harmed.`;
    case '53200':
      return `The server of ${name} is out of memory.`;
    case '53300':
      return `The server of ${name} has too many connections: raise its max_connections, or put PgBouncer in front of it.`;
    case '57014':
      return `A statement took too long for ${name}, and was stopped.`;
    case '58030':
      return `The disk of the server that has ${name} failed; its log says how.`;
    case 'XX001':
    case 'XX002':
      return `The content of ${name} is damaged. Stop the app, and restore a backup.`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
    case 'CERT_HAS_EXPIRED':
      return `The certificate of the server that has ${name} is not trusted (${code}): set sslrootcert in DATABASE_URL.`;
    default:
      return undefined;
  }
}
