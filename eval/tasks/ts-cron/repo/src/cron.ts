export interface Schedule {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
}

export function parseCron(text: string): Schedule {
  const [minutes, hours] = text.split(' ');
  return { minutes: minutes.split(',').map(Number), hours: hours.split(',').map(Number) };
}

export function next(schedule: Schedule, after: Date): Date | null {
  for (let time = after.getTime() + 60_000; ; time += 60_000) {
    const date = new Date(time);
    if (schedule.minutes.includes(date.getMinutes()) && schedule.hours.includes(date.getHours())) return date;
  }
}
