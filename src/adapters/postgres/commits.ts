/** For a transaction that is none of a storage's: has each process forget the rows that it keeps in memory. */
export const noteCommit = (writer: string) => `
  INSERT INTO commits VALUES ('${writer}', 1, nextval('commit_numbers'), now())
    ON CONFLICT (writer) DO UPDATE SET own = commits.own + 1, number = excluded.number, at = excluded.at;`;
