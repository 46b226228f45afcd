package perbyte.jca;

import java.security.Provider;

/** How JCA is asked for a row's engine: of which provider, by which name, with which kind of parameters. */
final class Recipe {
    /** What {@code Cipher.init} gets beside the key. */
    enum Parameters { NONE, IV, GCM, CHACHA, RC5 }

    final Provider provider;
    final String name;
    final String keyName;
    final Parameters parameters;
    final int rounds;

    Recipe(Provider provider, String name, String keyName, Parameters parameters, int rounds) {
        this.provider = provider;
        this.name = name;
        this.keyName = keyName;
        this.parameters = parameters;
        this.rounds = rounds;
    }
}
