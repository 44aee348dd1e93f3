/** A file or an address that holds the secret, or a number about it. */
const ABOUT_IT =
  /^(?:MAX|MIN|NUM|TOTAL)_|_(?:FILE|PATH|DIR|URL|NAME|LENGTH|VERSION|ID|LIMIT|COUNT|TTL|EXPIRY|SET|HEADER)$/i;
const SECRET = /(?:^|_)(?:PASSWORD|PASSWD|SECRET|TOKEN|API_?KEY|SECRET_KEY|PRIVATE_KEY|CREDENTIALS?)$/i;

/** Whether a variable has a name by which its value is secret. */
export function isSecretName(name: string): boolean {
  return SECRET.test(name) && !ABOUT_IT.test(name);
}

/** Whether its name says that it has to do with a secret, and not only with a number or a place of one. */
export function mayHoldSecret(name: string): boolean {
  return /PASSWORD|PASSWD|SECRET|TOKEN(?!IZ)|API_?KEY|PRIVATE_KEY/i.test(name) && !ABOUT_IT.test(name);
}
