import fc from 'fast-check';
import { inject } from 'vitest';

// In every worker, before its first test. A seed that a property names itself overrides this one.
fc.configureGlobal({ seed: inject('propertySeed') });
