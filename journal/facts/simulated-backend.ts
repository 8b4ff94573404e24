/** The name of the backend that stands in for a model, with which a run is tried. */
export const SIMULATED = 'simulated';
