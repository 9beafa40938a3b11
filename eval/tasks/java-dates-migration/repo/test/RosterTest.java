import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.List;
import roster.Ages;
import roster.Plan;
import roster.Repeats;
import roster.Shift;
import roster.Texts;
import roster.Weeks;

public final class RosterTest {
    public static void main(String[] args) {
        ZoneId zone = ZoneId.of("Europe/Zurich");
        Shift night = Texts.parse("anna;2026-03-28 22:00;2026-03-29 06:00", zone);
        check(night.length().equals(Duration.ofHours(7)), "the night in which the clocks go forward");
        check(Texts.format(night, zone).equals("anna;2026-03-28 22:00;2026-03-29 06:00"), "the text of a shift");
        Plan plan = new Plan();
        plan.add(night);
        check(plan.on(LocalDate.of(2026, 3, 29), zone).equals(List.of(night)), "the shifts of a day");
        check(Weeks.week(LocalDate.of(2025, 12, 29)).equals("2026-W01"), "the week");
        check(Repeats.monthly(LocalDate.of(2026, 1, 31), 2).get(1).equals(LocalDate.of(2026, 2, 28)), "the month");
        check(Ages.years(LocalDate.of(2008, 5, 2), LocalDate.of(2026, 5, 1)) == 17, "the age");
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            System.err.println(message);
            System.exit(1);
        }
    }
}
