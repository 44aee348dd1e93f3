import type { Kysely } from 'kysely';
import type { StudioCommands, StudioSession, StudioSessions } from '../../ports/studio-sessions.ts';
import { mustExist, reading, toDate, toDateOrNull, toText } from './columns.ts';
import type { Database, StudioSessionsTable } from './schema.ts';

export function studioSessionsTable(db: Kysely<Database>): StudioSessions {
  return {
    async insert(session) {
      await db
        .insertInto('studio_sessions')
        .values({
          ...columnsOf(session),
          person_id: session.personId,
          signed_in_at: toText(session.signedInAt),
        })
        .execute();
    },

    async find(tokenHash, now) {
      const counting = db.selectFrom('studio_sessions').selectAll().where('expires_at', '>', toText(now));
      const row =
        (await counting.where('token_hash', '=', tokenHash).executeTakeFirst()) ??
        (await counting
          .where('previous_hash', '=', tokenHash)
          .where((or) => or.or([or('previous_until', 'is', null), or('previous_until', '>', toText(now))]))
          .executeTakeFirst());
      return row && sessionIn(row);
    },

    async ofSignIn({ personId, signedInAt }, now) {
      const row = await db
        .selectFrom('studio_sessions')
        .selectAll()
        .where('person_id', '=', personId)
        .where('signed_in_at', '=', toText(signedInAt))
        .where('expires_at', '>', toText(now))
        .executeTakeFirst();
      return row && sessionIn(row);
    },

    async ofPerson(personId, limit, now) {
      const rows = await db
        .selectFrom('studio_sessions')
        .selectAll()
        .where('person_id', '=', personId)
        .where('expires_at', '>', toText(now))
        .orderBy('signed_in_at', 'desc')
        .limit(limit)
        .execute();
      return rows.map(sessionIn);
    },

    async change(tokenHash, changed) {
      const { numUpdatedRows } = await db
        .updateTable('studio_sessions')
        .set(columnsOf(changed))
        .where('token_hash', '=', tokenHash)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    },

    async remove(tokenHash) {
      await db.deleteFrom('studio_sessions').where('token_hash', '=', tokenHash).execute();
    },

    async removeOfPerson(personId) {
      await db.deleteFrom('studio_sessions').where('person_id', '=', personId).execute();
    },

    async removeExpired(now) {
      await db.deleteFrom('studio_sessions').where('expires_at', '<=', toText(now)).execute();
    },
  };
}

type Changing = Omit<StudioSession, 'personId' | 'signedInAt'>;

function columnsOf(session: Changing): Omit<StudioSessionsTable, 'person_id' | 'signed_in_at'>;
function columnsOf(session: Partial<Changing>): Partial<StudioSessionsTable>;
function columnsOf(session: Partial<Changing>): Partial<StudioSessionsTable> {
  const { tokenHash, previousHash, previousUntil, login, sealed, rotatedAt, seenAt, expiresAt } = session;
  return {
    ...(tokenHash !== undefined && { token_hash: tokenHash }),
    ...(previousHash !== undefined && { previous_hash: previousHash }),
    ...(previousUntil !== undefined && { previous_until: toText(previousUntil) }),
    ...(login !== undefined && { login }),
    ...(sealed !== undefined && { sealed }),
    ...(rotatedAt !== undefined && { rotated_at: toText(rotatedAt) }),
    ...(seenAt !== undefined && { seen_at: toText(seenAt) }),
    ...(expiresAt !== undefined && { expires_at: toText(expiresAt) }),
  };
}

function sessionIn(row: StudioSessionsTable): StudioSession {
  return reading('studio_sessions', row.login, () => ({
    tokenHash: row.token_hash,
    previousHash: row.previous_hash,
    previousUntil: toDateOrNull(row.previous_until),
    personId: row.person_id,
    login: row.login,
    sealed: row.sealed,
    signedInAt: toDate(row.signed_in_at),
    rotatedAt: toDate(row.rotated_at),
    seenAt: toDate(row.seen_at),
    expiresAt: toDate(row.expires_at),
  }));
}

export function studioCommandsTable(db: Kysely<Database>): StudioCommands {
  return {
    async insert({ id, personId, repositoryId, askedAt }) {
      await db
        .insertInto('studio_commands')
        .values({
          id,
          person_id: personId,
          repository_id: repositoryId,
          asked_at: toText(askedAt),
          ok: null,
          reply: null,
        })
        .execute();
    },

    async get(id) {
      const row = await db.selectFrom('studio_commands').selectAll().where('id', '=', id).executeTakeFirst();
      return (
        row &&
        reading('studio_commands', id, () => ({
          id,
          personId: row.person_id,
          repositoryId: row.repository_id,
          askedAt: toDate(row.asked_at),
          answer: row.reply === null ? null : { ok: row.ok === 1, text: row.reply },
        }))
      );
    },

    async answer(id, { ok, text }) {
      const { numUpdatedRows } = await db
        .updateTable('studio_commands')
        .set({ ok: ok ? 1 : 0, reply: text })
        .where('id', '=', id)
        .executeTakeFirst();
      mustExist(numUpdatedRows > 0n, 'studio_commands', id);
    },

    async removeBefore(askedAt) {
      await db.deleteFrom('studio_commands').where('asked_at', '<', toText(askedAt)).execute();
    },
  };
}
