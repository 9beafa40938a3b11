import bank.Bank;
import java.util.List;

public final class BankTest {
    public static void main(String[] args) throws InterruptedException {
        Bank bank = new Bank();
        bank.open("a", 100_000);
        bank.open("b", 100_000);
        Thread there = new Thread(() -> move(bank, "a", "b"));
        Thread back = new Thread(() -> move(bank, "b", "a"));
        there.setDaemon(true);
        back.setDaemon(true);
        there.start();
        back.start();
        there.join(8000);
        back.join(8000);
        check(!there.isAlive() && !back.isAlive(), "the transfers wait for each other");
        check(bank.total() == 200_000, "the total is " + bank.total());
        check(bank.history("a").get(0) == 100_000, "the history begins with the opening balance");
        try {
            bank.transfer("a", "nobody", 1);
            check(false, "an unknown account is accepted");
        } catch (IllegalArgumentException expected) {
            check(bank.total() == 200_000, "something changed");
        }
    }

    private static void move(Bank bank, String from, String to) {
        for (int i = 0; i < 50_000; i++) {
            bank.transfer(from, to, 1);
        }
    }

    private static void check(boolean condition, String message) {
        if (!condition) {
            System.err.println(message);
            System.exit(1);
        }
    }
}
