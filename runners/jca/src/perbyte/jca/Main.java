package perbyte.jca;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import perbyte.sdk.Server;

/**
 * The runner of a JCA vendor: {@code java -jar perbyte-jca.jar jca-bc OPTIONS...}. The options are those of the
 * virtual machines that measure; with {@code worker} in their place this is such a machine.
 */
public final class Main {
    private static final int CANNOT_START = 3;
    private static final String WORKER = "worker";

    private Main() {}

    public static void main(String[] args) throws IOException {
        Vendor vendor = args.length > 0 ? Vendor.named(args[0]) : null;
        boolean probe = args.length > 0 && args[0].equals(ProbeLibrary.RUNNER);
        if (vendor == null && !probe) {
            fail("the first argument is jca-sun, jca-bc, jca-conscrypt or jca-accp");
        } else if (args.length != 2 || !args[1].equals(WORKER)) {
            Server.front(command(args));
        } else if (probe) {
            Server.serve(new ProbeLibrary());
        } else if (!inForce(vendor)) {
            fail("the CPU tier '" + System.getenv("PERBYTE_CPU") + "' is unknown here or not in force");
        } else {
            Server.serve(new JcaLibrary(vendor));
        }
        System.exit(0); // whatever threads a provider has left
    }

    private static List<String> command(String[] args) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(Arrays.asList(args).subList(1, args.length));
        command.add("-Dperbyte.gauge=" + System.getProperty("perbyte.gauge"));
        command.addAll(List.of("-jar", System.getProperty("java.class.path"), args[0], WORKER));
        return command;
    }

    /** runner.toml brings the tier about, by flags of the virtual machine or by the environment. */
    private static boolean inForce(Vendor vendor) {
        String tier = System.getenv("PERBYTE_CPU");
        if (tier == null || tier.isEmpty() || tier.equals("full")) {
            return true;
        }
        if (tier.equals("interpreted")) {
            return System.getProperty("java.vm.info", "").contains("interpreted");
        }
        return tier.equals("soft")
                && (vendor.foreign ? System.getenv("OPENSSL_ia32cap") != null || System.getenv("OPENSSL_armcap") != null
                        : !JcaLibrary.flag("UseAES").equals("true") && !JcaLibrary.flag("UseSHA").equals("true"));
    }

    private static void fail(String words) {
        System.err.println("perbyte-jca: " + words);
        System.exit(CANNOT_START);
    }
}
