package hidden;

import bank.Bank;
import bank.Transfer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;

public final class BankHidden {
    public static void main(String[] args) throws Exception {
        rules();
        together();
        parallel();
        System.exit(0);
    }

    private static void rules() {
        Bank bank = new Bank();
        bank.open("a", 100);
        bank.open("b", 0);
        bank.open("full", Long.MAX_VALUE);
        refuses(IllegalArgumentException.class, () -> bank.open("a", 5));
        refuses(IllegalArgumentException.class, () -> bank.open("c", -1));
        refuses(IllegalArgumentException.class, () -> bank.balance("c"));
        refuses(IllegalArgumentException.class, () -> bank.history("c"));
        refuses(IllegalArgumentException.class, () -> bank.transfer("a", "c", 1));
        refuses(IllegalArgumentException.class, () -> bank.transfer("c", "a", 1));
        refuses(IllegalArgumentException.class, () -> bank.transfer("a", "b", 0));
        refuses(IllegalArgumentException.class, () -> bank.transfer("a", "b", -5));
        refuses(ArithmeticException.class, () -> bank.transfer("a", "full", 1));
        check(bank.balance("a") == 100 && bank.balance("full") == Long.MAX_VALUE);
        check(!bank.transfer("a", "b", 101) && bank.transfer("a", "b", 60) && bank.transfer("b", "a", 10));
        check(bank.transfer("a", "a", 50) && !bank.transfer("a", "a", 51) && bank.balance("a") == 50);
        check(bank.history("a").equals(List.of(100L, -60L, 10L)) && bank.history("b").equals(List.of(0L, 60L, -10L)));
        List<Long> before = bank.history("a");
        refuses(UnsupportedOperationException.class, () -> before.add(1L));
        bank.transfer("a", "b", 1);
        check(before.size() == 3);
    }

    private static void together() {
        Bank bank = new Bank();
        bank.open("a", 10);
        bank.open("b", 0);
        bank.open("c", 0);
        check(bank.transferAll(List.of(new Transfer("a", "b", 10), new Transfer("b", "c", 10))));
        check(bank.balance("c") == 10 && bank.history("b").equals(List.of(0L, 10L, -10L)));
        check(!bank.transferAll(List.of(new Transfer("c", "a", 4), new Transfer("b", "a", 1))));
        check(bank.balance("c") == 10 && bank.history("a").equals(List.of(10L, -10L)));
        refuses(IllegalArgumentException.class,
            () -> bank.transferAll(List.of(new Transfer("c", "a", 4), new Transfer("c", "x", 1))));
        refuses(IllegalArgumentException.class,
            () -> bank.transferAll(List.of(new Transfer("c", "a", 4), new Transfer("c", "a", 0))));
        check(bank.balance("c") == 10 && bank.transferAll(List.of()) && bank.total() == 10);
        bank.open("full", Long.MAX_VALUE);
        refuses(ArithmeticException.class,
            () -> bank.transferAll(List.of(new Transfer("c", "a", 4), new Transfer("c", "full", 1))));
        check(bank.balance("c") == 10 && bank.history("c").equals(List.of(0L, 10L)));
    }

    private static void parallel() throws InterruptedException {
        Bank bank = new Bank();
        int accounts = 6;
        for (int i = 0; i < accounts; i++) {
            bank.open("n" + i, 1000);
        }
        AtomicBoolean isWrong = new AtomicBoolean();
        AtomicBoolean isDone = new AtomicBoolean();
        List<Thread> movers = new ArrayList<>();
        for (int thread = 0; thread < 6; thread++) {
            int seed = thread;
            movers.add(start(() -> {
                Random random = new Random(seed);
                for (int i = 0; i < 10_000; i++) {
                    String a = "n" + random.nextInt(accounts);
                    String b = "n" + random.nextInt(accounts);
                    String c = "n" + random.nextInt(accounts);
                    int cents = 1 + random.nextInt(300);
                    if (i % 3 == 0) {
                        bank.transferAll(List.of(new Transfer(a, b, cents), new Transfer(b, c, cents)));
                    } else {
                        bank.transfer(a, b, cents);
                    }
                }
            }));
        }
        Thread watcher = start(() -> {
            while (!isDone.get()) {
                if (bank.total() != accounts * 1000L) {
                    isWrong.set(true);
                }
                long sum = 0;
                for (long change : bank.history("n0")) {
                    sum += change;
                }
                if (sum < 0) {
                    isWrong.set(true);
                }
                try {
                    Thread.sleep(1);
                } catch (InterruptedException thrown) {
                    return;
                }
            }
        });
        Thread opener = start(() -> {
            for (int i = 0; i < 500; i++) {
                bank.open("other" + i, 0);
            }
        });
        for (Thread mover : movers) {
            mover.join(20_000);
            check(!mover.isAlive());
        }
        isDone.set(true);
        watcher.join(5000);
        opener.join(5000);
        check(!watcher.isAlive() && !opener.isAlive() && !isWrong.get());
        for (int i = 0; i < accounts; i++) {
            long sum = 0;
            for (long change : bank.history("n" + i)) {
                sum += change;
                check(sum >= 0);
            }
            check(sum == bank.balance("n" + i));
        }
    }

    private static Thread start(Runnable work) {
        Thread thread = new Thread(work);
        thread.setDaemon(true);
        thread.setUncaughtExceptionHandler((which, thrown) -> {
            thrown.printStackTrace();
            System.exit(1);
        });
        thread.start();
        return thread;
    }

    private static void refuses(Class<? extends Exception> kind, Runnable work) {
        try {
            work.run();
        } catch (Exception thrown) {
            check(kind.isInstance(thrown));
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
