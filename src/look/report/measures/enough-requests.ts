import type { Report } from '../shape/report-shape.js';

/** In less time, or of fewer requests, what a rule of findings sees may be chance. */
export const LEAST_TIME = 30e9;
export const LEAST_REQUESTS = 50;

/** Whether rules of findings say something of a report. */
export function hasEnoughRequests({
  groups,
  length,
  by,
}: Pick<Report, 'groups' | 'length' | 'by'>): boolean {
  const requests = groups.reduce((sum, { count }) => sum + count, 0);
  return by === 'route' && length >= LEAST_TIME && requests >= LEAST_REQUESTS;
}
