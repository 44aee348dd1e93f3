import { describe, expect, it } from 'vitest';
import { postgresFailure } from '../../../src/adapters/postgres/failure.ts';
import { placeOf } from '../../../src/adapters/postgres/place.ts';

const place = placeOf('postgres://app:tulip%40rain@db.example.com:6432/countersign?sslmode=require');

describe('an address of PostgreSQL', () => {
  it('names host and database for messages, and its password for redaction', () => {
    expect(place).toMatchObject({
      name: 'the database countersign on db.example.com:6432',
      password: 'tulip@rain',
    });
  });

  it.each(['postgres://', 'postgres://app:tulip@db.example.com', 'postgres://app:tulip@db:port/x'])(
    '"%s" is refused without showing the password',
    (url) => {
      expect(() => placeOf(url)).toThrow(
        expect.objectContaining({
          code: 'storage.bad_url',
          message: expect.not.stringContaining('tulip'),
        }),
      );
    },
  );
});

describe('an error of PostgreSQL', () => {
  const failureOf = (code: string | undefined, message = 'no', routine?: string) =>
    postgresFailure(
      Object.assign(
        new Error(message),
        code === undefined ? {} : { code },
        routine === undefined ? {} : { routine },
      ),
      place.name,
    );

  it.each([
    ['ECONNREFUSED', 'Nothing answers where the database countersign on db.example.com:6432 should be'],
    ['ENOTFOUND', 'The host of the database countersign on db.example.com:6432 is unknown'],
    ['28P01', 'refused the user or the password of DATABASE_URL'],
    ['3D000', 'There is no such database as the database countersign'],
    ['42501', 'let it own the database'],
    ['53100', 'is full. Make room on it; nothing recorded so far is harmed'],
    ['53300', 'has too many connections'],
    ['57014', 'took too long'],
    ['57P01', 'its server was restarted'],
    ['XX001', 'restore a backup'],
  ])('%s says what its owner can do', (code, sentence) => {
    expect(failureOf(code)).toMatchObject({
      code: 'storage.unavailable',
      message: expect.stringContaining(sentence),
    });
  });

  it.each([
    ['25006', 'ExecCheckXactReadOnly'],
    ['0A000', 'call_bool_check_hook'],
  ])(
    '%s of a server that only reads is a lost connection, because another server has the address',
    (code, routine) => {
      expect(failureOf(code, 'no', routine)).toMatchObject({
        name: 'ConnectionLost',
        code: 'storage.unavailable',
        message: expect.stringContaining('only reads, as a standby does: let DATABASE_URL name the primary.'),
      });
    },
  );

  it('without a code, when a connection ends, is a lost connection', () => {
    expect(failureOf(undefined, 'Connection terminated unexpectedly')).toMatchObject({
      name: 'ConnectionLost',
    });
  });

  it('of an address without the password that the server asks for says so', () => {
    const said = 'SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string';
    expect(failureOf(undefined, said)).toMatchObject({
      code: 'storage.unavailable',
      message: expect.stringContaining('wants a password, and DATABASE_URL has none'),
    });
  });

  it.each(['55P03', '40001', '40P01'])('%s passes when another process is done', (code) => {
    expect(failureOf(code)).toMatchObject({
      name: 'StorageLocked',
      message: expect.stringMatching(/^The database countersign on .* is locked/),
    });
  });

  it.each(['23505', '23503', '42601', '0A000'])('%s, of a statement, stays as it is', (code) => {
    expect(failureOf(code)).toMatchObject({ code, message: 'no' });
  });
});
