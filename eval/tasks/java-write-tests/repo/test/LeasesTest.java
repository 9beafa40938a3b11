import leases.Leases;

public final class LeasesTest {
    public static void main(String[] args) {
        new Leases(1);
    }
}
