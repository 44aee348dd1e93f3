// Small helpers of Studio's pages. Every page works without this file.
