/** The skills and actions a chain may use. */
export interface KnownNames {
  skills: readonly string[];
  actions: readonly string[];
  /** The skills that a gate may ask, which are those that are no packages; all of them when left out. */
  builtIn?: readonly string[];
  /** Skills that are there for reading only; a step that names one would fail when it is run. */
  withoutOutcome?: readonly string[];
  /** Skills that are there, and whose packages have faults. */
  broken?: readonly string[];
}
