package hidden;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TimeZone;
import roster.Ages;
import roster.Pay;
import roster.Plan;
import roster.Repeats;
import roster.Shift;
import roster.Texts;
import roster.Weeks;

public final class RosterHidden {
    private static final ZoneId ZURICH = ZoneId.of("Europe/Zurich");
    private static final ZoneId NEW_YORK = ZoneId.of("America/New_York");

    public static void main(String[] args) throws Exception {
        for (String locale : List.of("en-US", "ar-EG-u-nu-arab", "th-TH-u-ca-buddhist")) {
            for (String zone : List.of("Pacific/Kiritimati", "America/Los_Angeles")) {
                Locale.setDefault(Locale.forLanguageTag(locale));
                TimeZone.setDefault(TimeZone.getTimeZone(zone));
                shifts();
                texts();
                plans();
                weeks();
                pay();
                repeats();
                ages();
            }
        }
        threads();
        System.exit(0);
    }

    private static Shift shift(String text) {
        return Texts.parse("anna;" + text, ZURICH);
    }

    private static void shifts() {
        Instant start = Instant.parse("2026-01-01T10:00:00Z");
        Shift shift = new Shift("anna", start, start.plusSeconds(3600));
        check(shift.length().equals(Duration.ofHours(1)) && shift.equals(new Shift("anna", start, start.plusSeconds(3600))));
        check(!shift.overlaps(new Shift("b", start.plusSeconds(3600), start.plusSeconds(7200))));
        check(!shift.overlaps(new Shift("b", start.minusSeconds(3600), start)));
        check(shift.overlaps(new Shift("b", start.plusSeconds(3599), start.plusSeconds(7200))));
        check(shift.overlaps(new Shift("b", start.minusSeconds(1), start.plusSeconds(1))) && shift.overlaps(shift));
        refuses(() -> new Shift("anna", start, start));
        refuses(() -> new Shift("anna", start, start.minusSeconds(1)));
    }

    private static void texts() {
        check(shift("2026-03-28 22:00;2026-03-29 06:00").length().equals(Duration.ofHours(7)));
        check(shift("2026-10-24 22:00;2026-10-25 06:00").length().equals(Duration.ofHours(9)));
        // 02:30 does not exist on 29 March, and exists twice on 25 October.
        check(shift("2026-03-29 02:30;2026-03-29 06:00").start().equals(Instant.parse("2026-03-29T01:30:00Z")));
        check(shift("2026-03-29 01:00;2026-03-29 02:30").length().equals(Duration.ofMinutes(90)));
        check(shift("2026-10-25 02:30;2026-10-25 06:00").start().equals(Instant.parse("2026-10-25T00:30:00Z")));
        check(shift("2026-10-25 02:00;2026-10-25 02:30").length().equals(Duration.ofMinutes(90)));
        check(Texts.format(shift("2026-10-25 02:00;2026-10-25 02:30"), ZURICH).equals("anna;2026-10-25 02:00;2026-10-25 02:30"));
        check(Texts.format(shift("2026-12-31 23:00;2027-01-01 07:00"), NEW_YORK).equals("anna;2026-12-31 17:00;2027-01-01 01:00"));
        check(Texts.format(shift("0987-01-01 23:00;0987-01-02 07:00"), ZURICH).equals("anna;0987-01-01 23:00;0987-01-02 07:00"));
        check(shift("2028-02-29 00:00;2028-02-29 00:01").length().equals(Duration.ofMinutes(1)));
        for (String wrong : List.of("2026-02-30 10:00;2026-03-30 10:00", "2026-02-29 10:00;2026-03-30 10:00", "2026-03-01 24:00;2026-03-03 10:00",
            "2026-3-01 10:00;2026-03-03 10:00", "2026-03-01 1:00;2026-03-03 10:00", "2026-03-01 10:00", "2026-03-01 10:00;2026-03-03 10:00;x",
            "2026-03-01 10:00;2026-03-03 10:00;", "2026-03-01 10:60;2026-03-03 10:00", "2026-13-01 10:00;2026-03-03 10:00", "x;y", "",
            "2026-03-01 10:00:00;2026-03-03 10:00", " 2026-03-01 10:00;2026-03-03 10:00", "2026-03-03 10:00;2026-03-03 10:00")) {
            String line = "anna;" + wrong;
            try {
                Texts.parse(line, ZURICH);
            } catch (IllegalArgumentException thrown) {
                check(thrown.getMessage().contains(line));
                continue;
            }
            System.err.println(line);
            check(false);
        }
    }

    private static void plans() {
        Plan plan = new Plan();
        Shift late = Texts.parse("zoe;2026-03-28 22:00;2026-03-29 06:00", ZURICH);
        Shift early = Texts.parse("zoe;2026-03-29 06:00;2026-03-29 14:00", ZURICH);
        Shift same = Texts.parse("adam;2026-03-29 06:00;2026-03-29 09:00", ZURICH);
        Shift evening = Texts.parse("adam;2026-03-29 18:00;2026-03-30 00:00", ZURICH);
        for (Shift each : List.of(early, late, evening, same)) {
            plan.add(each);
        }
        refuses(() -> plan.add(Texts.parse("zoe;2026-03-29 13:59;2026-03-29 15:00", ZURICH)));
        refuses(() -> plan.add(Texts.parse("zoe;2026-03-01 00:00;2026-05-01 00:00", ZURICH)));
        check(plan.on(LocalDate.of(2026, 3, 28), ZURICH).equals(List.of(late)));
        check(plan.on(LocalDate.of(2026, 3, 29), ZURICH).equals(List.of(late, same, early, evening)));
        check(plan.on(LocalDate.of(2026, 3, 30), ZURICH).isEmpty());
        check(plan.on(LocalDate.of(2026, 3, 28), NEW_YORK).equals(List.of(late)));
        check(plan.on(LocalDate.of(2026, 3, 29), NEW_YORK).equals(List.of(same, early, evening)));
        Shift long1 = Texts.parse("kim;2026-10-01 00:00;2026-10-20 00:00", ZURICH);
        plan.add(long1);
        check(plan.on(LocalDate.of(2026, 10, 7), ZURICH).equals(List.of(long1)) && plan.on(LocalDate.of(2026, 10, 20), ZURICH).isEmpty());
        // The day on which the clocks go back has 25 hours.
        Shift last = Texts.parse("kim;2026-10-25 23:30;2026-10-25 23:45", ZURICH);
        plan.add(last);
        check(plan.on(LocalDate.of(2026, 10, 25), ZURICH).equals(List.of(last)) && plan.on(LocalDate.of(2026, 10, 26), ZURICH).isEmpty());
        check(plan.next("zoe", late.start()).equals(Optional.of(late)));
        check(plan.next("zoe", late.start().plusSeconds(1)).equals(Optional.of(early)));
        check(plan.next("zoe", early.start().plusSeconds(1)).isEmpty() && plan.next("nobody", Instant.EPOCH).isEmpty());
        check(plan.next("adam", Instant.EPOCH).equals(Optional.of(same)));
    }

    private static void weeks() {
        check(Weeks.week(LocalDate.of(2025, 12, 28)).equals("2025-W52") && Weeks.week(LocalDate.of(2025, 12, 29)).equals("2026-W01"));
        check(Weeks.week(LocalDate.of(2027, 1, 3)).equals("2026-W53") && Weeks.week(LocalDate.of(2027, 1, 4)).equals("2027-W01"));
        check(Weeks.week(LocalDate.of(2026, 7, 5)).equals("2026-W27") && Weeks.week(LocalDate.of(2026, 7, 6)).equals("2026-W28"));
        var hours = Weeks.hours(List.of(
            shift("2026-03-29 22:00;2026-03-30 06:00"), shift("2026-01-05 08:00;2026-01-05 12:00"), shift("2026-03-28 22:00;2026-03-29 06:00"),
            shift("2026-01-05 13:00;2026-01-05 13:30"), shift("2025-12-29 13:00;2025-12-29 14:00")), ZURICH);
        check(hours.toString().equals("{2026-W01=PT1H, 2026-W02=PT4H30M, 2026-W13=PT15H}"));
        check(Weeks.hours(List.of(shift("2026-03-30 02:00;2026-03-30 03:00")), NEW_YORK).toString().equals("{2026-W13=PT1H}"));
    }

    private static void pay() {
        check(Pay.cents(shift("2026-03-25 09:00;2026-03-25 17:00"), 3000, ZURICH) == 24000);
        check(Pay.cents(shift("2026-03-25 09:00;2026-03-25 09:10"), 100, ZURICH) == 16);
        check(Pay.cents(shift("2026-03-25 22:59;2026-03-25 23:01"), 6000, ZURICH) == 250);
        check(Pay.cents(shift("2026-03-25 05:59;2026-03-25 06:01"), 6000, ZURICH) == 250);
        check(Pay.cents(shift("2026-03-25 05:59;2026-03-25 06:01"), 6000, NEW_YORK) == 300 && Pay.cents(shift("2026-03-25 14:00;2026-03-25 15:00"), 6000, NEW_YORK) == 6000);
        check(Pay.cents(shift("2026-03-21 22:00;2026-03-22 08:00"), 2000, ZURICH) == 2000 + 9 * 3000);
        check(Pay.cents(shift("2026-03-22 22:00;2026-03-23 08:00"), 2000, ZURICH) == 8 * 3000 + 2 * 2000);
        check(Pay.cents(shift("2026-03-28 22:00;2026-03-29 06:00"), 2000, ZURICH) == 2000 + 6 * 3000);
        check(Pay.cents(shift("2026-10-24 22:00;2026-10-25 06:00"), 2000, ZURICH) == 2000 + 8 * 3000);
        check(Pay.cents(shift("2026-03-25 23:00;2026-03-25 23:07"), 333, ZURICH) == 58);
        check(Pay.cents(shift("2026-03-25 09:00;2026-03-25 10:00"), 59, ZURICH) == 59 && Pay.cents(shift("2026-03-25 23:00;2026-03-26 00:00"), 59, ZURICH) == 88);
        check(Pay.cents(shift("2026-03-25 09:00;2026-03-25 10:00"), 9007199254740993L, ZURICH) == 9007199254740993L);
    }

    private static void repeats() {
        List<Shift> nights = Repeats.weekly(shift("2026-03-21 22:00;2026-03-22 06:00"), 3, ZURICH);
        check(nights.stream().map(each -> Texts.format(each, ZURICH)).toList().equals(List.of(
            "anna;2026-03-21 22:00;2026-03-22 06:00", "anna;2026-03-28 22:00;2026-03-29 06:00", "anna;2026-04-04 22:00;2026-04-05 06:00")));
        check(nights.get(1).length().equals(Duration.ofHours(7)) && nights.get(2).length().equals(Duration.ofHours(8)));
        List<Shift> gap = Repeats.weekly(shift("2026-03-22 02:30;2026-03-22 04:00"), 3, ZURICH);
        check(gap.get(1).start().equals(Instant.parse("2026-03-29T01:30:00Z")) && gap.get(1).length().equals(Duration.ofMinutes(30)));
        check(gap.get(2).start().equals(Instant.parse("2026-04-05T00:30:00Z")));
        List<Shift> twice = Repeats.weekly(shift("2026-10-18 02:15;2026-10-18 02:45"), 2, ZURICH);
        check(twice.get(1).start().equals(Instant.parse("2026-10-25T00:15:00Z")) && twice.get(1).length().equals(Duration.ofMinutes(90)));
        check(Repeats.weekly(nights.get(0), 0, ZURICH).isEmpty());
        check(Repeats.monthly(LocalDate.of(2027, 12, 31), 5).equals(List.of(LocalDate.of(2027, 12, 31), LocalDate.of(2028, 1, 31),
            LocalDate.of(2028, 2, 29), LocalDate.of(2028, 3, 31), LocalDate.of(2028, 4, 30))));
        check(Repeats.monthly(LocalDate.of(2026, 1, 5), 2).equals(List.of(LocalDate.of(2026, 1, 5), LocalDate.of(2026, 2, 5))));
        check(Repeats.monthly(LocalDate.of(2026, 1, 5), 0).isEmpty());
    }

    private static void ages() {
        LocalDate birth = LocalDate.of(2008, 2, 29);
        check(Ages.years(birth, LocalDate.of(2026, 2, 28)) == 17 && Ages.years(birth, LocalDate.of(2026, 3, 1)) == 18);
        check(Ages.years(birth, LocalDate.of(2028, 2, 28)) == 19 && Ages.years(birth, LocalDate.of(2028, 2, 29)) == 20);
        check(Ages.years(LocalDate.of(2008, 5, 2), LocalDate.of(2026, 5, 1)) == 17 && Ages.years(LocalDate.of(2008, 5, 2), LocalDate.of(2026, 5, 2)) == 18);
        Shift night = shift("2026-05-02 00:30;2026-05-02 06:00");
        check(Ages.mayWorkAtNight(LocalDate.of(2008, 5, 2), night, ZURICH) && !Ages.mayWorkAtNight(LocalDate.of(2008, 5, 2), night, NEW_YORK));
        check(!Ages.mayWorkAtNight(LocalDate.of(2008, 5, 3), night, ZURICH));
    }

    private static void threads() throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        for (int t = 0; t < 4; t++) {
            String line = "anna;2026-0" + (t + 1) + "-11 1" + t + ":00;2026-0" + (t + 1) + "-12 1" + t + ":00";
            Thread thread = new Thread(() -> {
                for (int i = 0; i < 3000; i++) {
                    check(Texts.format(Texts.parse(line, ZURICH), ZURICH).equals(line));
                }
            });
            thread.setUncaughtExceptionHandler((which, thrown) -> {
                thrown.printStackTrace();
                System.exit(1);
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            thread.join(20_000);
        }
    }

    private static void refuses(Runnable work) {
        try {
            work.run();
        } catch (IllegalArgumentException expected) {
            return;
        }
        check(false);
    }

    private static void check(boolean condition) {
        if (!condition) {
            new AssertionError("failed").printStackTrace();
            System.exit(1);
        }
    }
}
